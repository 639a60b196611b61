// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <variant>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/kernel_traits.h"
#include "paceline/runtime/kernels/table.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"

namespace paceline::runtime {
namespace {

/// Each row with each word of its options, and every two axes together.
std::set<std::string> strategy_texts() {
  std::set<std::string> names;
  for (const strategies::AxisInfo& axis : strategies::strategy_axes()) {
    for (const strategies::RowInfo& row : axis.rows) {
      names.emplace(row.name);
      for (const strategies::OptionInfo& option : row.options) {
        for (const std::string_view word : option.words) {
          names.insert(fmt::format("{}:{}={}", row.name, option.key, word));
        }
      }
    }
  }
  std::set<std::string> texts = names;
  for (const std::string& one : names) {
    for (const std::string& other : names) {
      texts.insert(one + "+" + other);
    }
  }
  return texts;
}

/// The kernels that an executor must run in the plans of all ranks.
void collect(const plan::Planner& planner, plan::PlanInput input, std::set<std::string>& found) {
  for (input.rank = 0; input.rank < input.world; ++input.rank) {
    const plan::Setup setup = planner.setup(input);
    for (const plan::Variant variant : plan::variants_of(planner, input)) {
      for (const plan::Op& op : planner.plan(input, setup, variant).ops) {
        const auto* kernel = std::get_if<plan::Kernel>(&op.work);
        if (kernel != nullptr && op.performer.empty()) {
          found.emplace(kernel->name);
        }
      }
    }
  }
}

std::set<std::string> named_by_planners() {
  std::set<std::string> found;
  for (const std::string& text : strategy_texts()) {
    for (const plan::Rank world : {1, 2, 4}) {
      for (const bool scaled : {false, true}) {
        plan::PlanInput input = plan::input_of(plan::tiny_model(), world);
        input.loss_scaling = scaled;
        input.optimizer = scaled ? plan::adamw() : plan::OptimizerShape{};
        try {
          const auto spec = strategies::parse_strategy(text);
          if (!spec.external()) {
            collect(*strategies::make_planner(spec), input, found);
          }
        } catch (const UsageError&) {
          continue;  // the combination or the world is rejected
        }
      }
    }
  }
  return found;
}

TEST(KernelTable, HasEveryKernelThatPlannersName) {
  const std::set<std::string> named = named_by_planners();
  for (const char* known : {"update", "topk", "vote", "linear", "cast"}) {
    EXPECT_TRUE(named.contains(known)) << known;
  }
  for (const std::string& name : named) {
    EXPECT_NO_THROW(find_kernel(name)) << name;
    EXPECT_NE(plan::find_kernel_traits(name), nullptr) << name;
  }
}

TEST(KernelTable, NamesRowsOfTheTraits) {
  for (const KernelInfo& kernel : kernels()) {
    EXPECT_NE(plan::find_kernel_traits(kernel.name), nullptr) << kernel.name;
  }
}

TEST(KernelTable, RejectsAnUnknownName) { EXPECT_THROW(find_kernel("convolve"), UsageError); }

}  // namespace
}  // namespace paceline::runtime
