// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/protocols.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "paceline/base/random.h"
#include "paceline/stats/fit.h"

namespace paceline::validate {
namespace {

constexpr InputRule kInputs[] = {
    {Table::kSurvey,
     "the rates of one device (reference/ddl_benchmarks_setup.csv, no cells)"},
    {Table::kFrameworks, "each series' cells of 1 and 8 devices"},
    {Table::kDdp, "each model's median without DDP"},
    {Table::kDecentralized,
     "the rates of one device (frames of the charts, no cells)"},
};

constexpr double kRepeats = 3;  // of an experiment on one node

/// Constants that only a network's own cells can tell.
std::vector<Constant> own_constants(std::string_view network) {
  if (network == "10GbE") {
    return {Constant::kTcp10Rate, Constant::kServerTcp10Rate};
  }
  if (network == "100GbE") {
    return {Constant::kIpoibRate,
            Constant::kServerIpoibRate,
            Constant::kServerIpoibGrowth};
  }
  return {};
}

}  // namespace

std::span<const InputRule> input_rules() {
  return kInputs;
}

std::vector<const Cell*> scorable(const std::vector<Cell>& cells, Table table) {
  std::vector<const Cell*> chosen;
  for (const Cell& cell : cells) {
    if (cell.table == table && cell.published.has_value() && !is_input(cell) &&
        !contradicts_physics(cell) &&
        !cell.has_flag("same_run_as_bert_amp_b64")) {
      chosen.push_back(&cell);
    }
  }
  return chosen;
}

bool shown_of_new_network(const Cell& cell) {
  static const std::set<std::string> shown{
      "BSP-A2A|BERT-Base|10GbE|8",
      "BSP-PS|BERT-Base|10GbE|8",
      "BSP-PS|BERT-Base|10GbE|16",
      "BSP-A2A|BERT-Base|100GbIB|8",
      "BSP-PS|BERT-Base|100GbIB|8",
      "BSP-PS|BERT-Base|100GbIB|16",
      "BSP-A2A|BERT-Base|100GbE|8",
      "BSP-PS|BERT-Base|100GbE|8",
      "BSP-PS|BERT-Base|100GbE|16",
  };
  return shown.contains(cell.id);
}

Constants fit_to(Examinee& examinee,
                 std::span<const Cell* const> cells,
                 std::span<const Constant> ids,
                 const Constants& start,
                 int iterations) {
  const auto at = [&](const std::vector<double>& values) {
    Constants constants = start;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      constants[ids[i]] = values[i];
    }
    return constants;
  };
  stats::FitProblem problem;
  problem.residuals = cells.size();
  problem.residual = [&](std::size_t i, const std::vector<double>& values) {
    const Cell& cell = *cells[i];
    const double error =
        std::log(examinee.samples_per_s(cell, at(values)) / *cell.published);
    const bool repeated = cell.table == Table::kSurvey && cell.gpus() == 4;
    return repeated ? error / std::sqrt(kRepeats) : error;
  };
  problem.depends = [&](std::size_t i, std::size_t j) {
    return depends_on(*cells[i], ids[j]);
  };
  std::vector<double> values;
  for (const Constant id : ids) {
    values.push_back(start[id]);
  }
  return at(stats::fit(problem, values, {.iterations = iterations}));
}

Errors errors_of(Examinee& examinee,
                 std::span<const Cell* const> cells,
                 const Constants& constants) {
  Errors errors;
  for (const Cell* cell : cells) {
    errors[cell] =
        100 * (examinee.samples_per_s(*cell, constants) / *cell->published - 1);
  }
  return errors;
}

Errors cross_validate(Examinee& examinee,
                      std::span<const Cell* const> cells,
                      const std::function<std::string(const Cell&)>& group,
                      std::size_t folds,
                      const Constants& start) {
  std::set<std::string> names;
  for (const Cell* cell : cells) {
    names.insert(group(*cell));
  }
  std::vector<std::string> shuffled(names.begin(), names.end());
  Random random(1, 0);
  for (std::size_t i = shuffled.size(); i > 1; --i) {
    std::swap(shuffled[i - 1], shuffled[random.below(i)]);
  }
  std::map<std::string, std::size_t> fold_of;
  for (std::size_t i = 0; i < shuffled.size(); ++i) {
    fold_of[shuffled[i]] = i % std::min(folds, shuffled.size());
  }
  Errors all;
  for (std::size_t fold = 0; fold < std::min(folds, shuffled.size()); ++fold) {
    std::vector<const Cell*> known, asked;
    for (const Cell* cell : cells) {
      (fold_of[group(*cell)] == fold ? asked : known).push_back(cell);
    }
    const auto ids = constants_of(cells.front()->table);
    all.merge(
        errors_of(examinee, asked, fit_to(examinee, known, ids, start, 6)));
  }
  return all;
}

Errors new_network(Examinee& examinee,
                   std::span<const Cell* const> cells,
                   const Constants& start) {
  Errors all;
  for (const std::string_view network : {"10GbE", "100GbIB", "100GbE"}) {
    std::vector<const Cell*> others, shown, asked;
    for (const Cell* cell : cells) {
      if (cell->key[2] != network) {
        others.push_back(cell);
      } else if (shown_of_new_network(*cell)) {
        shown.push_back(cell);
      } else if (cell->gpus() > 4) {
        asked.push_back(cell);
      }
    }
    const std::vector<Constant> own = own_constants(network);
    std::vector<Constant> shared = constants_of(Table::kSurvey);
    std::erase_if(shared, [&](Constant id) {
      return std::ranges::find(own, id) != own.end();
    });
    Constants constants = fit_to(examinee, others, shared, start, 6);
    if (!own.empty()) {
      constants = fit_to(examinee, shown, own, constants, 10);
    }
    all.merge(errors_of(examinee, asked, constants));
  }
  return all;
}

}  // namespace paceline::validate
