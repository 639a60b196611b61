// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/examinee.h"

namespace paceline::validate {

double Examinee::samples_per_s(const Cell& cell, const Constants& constants) {
  switch (cell.table) {
    case Table::kSurvey:
      return survey_.samples_per_s(survey_cell(cell), constants);
    case Table::kFrameworks:
      return frameworks_.samples_per_s(cell, constants);
    case Table::kDdp:
    case Table::kDdpBuckets:
      return ddp_.samples_per_s(cell, constants);
    case Table::kDecentralized:
      return decentralized_.samples_per_s(cell, constants);
  }
  return 0;
}

bool is_input(const Cell& cell) {
  return cell.table == Table::kFrameworks ? FrameworkModel::is_input(cell)
                                          : DdpModel::is_input(cell);
}

bool is_set_apart(const Cell& cell) {
  if (cell.table == Table::kDecentralized) {
    return cell.key[0] == "text";  // another configuration than the charts'
  }
  if (cell.table == Table::kFrameworks) {
    return FrameworkModel::is_abnormal(cell);
  }
  return cell.table == Table::kSurvey && ran_over_10gbe(survey_cell(cell));
}

bool depends_on(const Cell& cell, Constant constant) {
  if (cell.table == Table::kSurvey) {
    return depends_on(survey_cell(cell), constant);
  }
  const Table table =
      constant_table()[static_cast<std::size_t>(constant)].table;
  return table == cell.table ||
         (table == Table::kDdp && cell.table == Table::kDdpBuckets);
}

bool is_heard_on(const Cell& cell, Constant constant) {
  if (cell.table == Table::kSurvey && cell.key[0] == "ByteScheduler-A2A") {
    return depends_on(cell, constant) &&
           (constant == Constant::kSchedulerCall ||
            constant == Constant::kSchedulerSpread ||
            constant == Constant::kSchedulerTcp);
  }
  return depends_on(cell, constant) &&
         !(constant == Constant::kIpoibRate && survey_cell(cell).serves());
}

}  // namespace paceline::validate
