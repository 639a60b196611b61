// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/optimizer.h"

#include <algorithm>

#include "paceline/base/error.h"
#include "paceline/base/text.h"

namespace paceline::plan {
namespace {

int states_of(const Optimizer& row) {
  return static_cast<int>(
      std::ranges::count_if(row.states, [](auto name) { return !name.empty(); }));
}

}  // namespace

std::vector<std::string> optimizer_names() {
  return {kOptimizerNames.begin(), kOptimizerNames.end()};
}

const Optimizer* find_optimizer(std::string_view name) {
  const auto* row = std::ranges::find(kOptimizers, name, &Optimizer::name);
  return row == kOptimizers.end() ? nullptr : row;
}

const Optimizer& optimizer_named(std::string_view name) {
  if (const Optimizer* row = find_optimizer(name)) {
    return *row;
  }
  throw UsageError(unknown_name_message("optimizer", name, optimizer_names()));
}

std::string update_rule_of(const std::string& optimizer) {
  const Optimizer* row = find_optimizer(optimizer);
  return row == nullptr ? optimizer : std::string(row->rule);
}

OptimizerShape shape_of(std::string_view optimizer, bool momentum) {
  const Optimizer& row = optimizer_named(optimizer);
  return {.name = std::string(row.rule),
          .state_buffers = row.momentum && !momentum ? 0 : states_of(row)};
}

std::vector<std::string_view> state_names(const OptimizerShape& optimizer) {
  const Optimizer& row = optimizer_named(optimizer.name);
  if (row.momentum && optimizer.state_buffers == 0) {
    return {};
  }
  PACELINE_CHECK_EQ(optimizer.state_buffers, states_of(row));
  return {row.states.begin(), row.states.begin() + optimizer.state_buffers};
}

}  // namespace paceline::plan
