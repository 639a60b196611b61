// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/access.h"
#include "paceline/plan/cost.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"

namespace paceline::strategies {

/// Ranks among which a strategy of the list below exists, near three.
inline Rank ranks_for(const std::string& text) {
  return text.find("gtopk") != std::string::npos ? 4 : 3;
}

/// Every strategy of the tables that has a planner, with buckets small enough to have several: each
/// schedule with each exchange, each codec and update rule with each exchange, and what options
/// change.
inline std::vector<std::string> strategy_texts() {
  constexpr StrategyDefaults kSmallBuckets{.bucket_mb = 0.00005};
  std::vector<std::string> names{
      "bytescheduler:order=priority,credit-mb=0",
      "bytescheduler:credit-mb=0",
      "bytescheduler:queue=module,credit-mb=0",
      "wfbp+ps:partition-mb=0.00005,servers=2,assign=hash",
      "bytescheduler:credit-mb=0+ps:partition-mb=0.00005,assign=size",
      "bytescheduler:order=priority,credit-mb=0+ps",
      "fusion+ps:placement=apart,servers=1",
      "fusion+ps:placement=apart,servers=1+fp16",
      "fusion+ps:placement=apart,servers=1+sign",
      "dear+all-reduce+topk:density=0.3",
      "bytescheduler:partition-mb=0.00008,credit-mb=0+ef-sign",
      "dear+rs-ag+sign:form=int8",
      "fusion+ps:placement=apart,servers=1+sign:form=int8",
      "wfbp+gtopk:density=0.3",
      "bytescheduler:partition-mb=0.00008,credit-mb=0+gtopk:density=0.1",
      "dear+all-reduce+random-k:density=0.3",
      "bytescheduler:partition-mb=0.00008,credit-mb=0+qsgd",
      "wfbp+powersgd:rank=1",
      "dear+all-reduce+powersgd:rank=1",
      "bytescheduler:partition-mb=0.00008,credit-mb=0+topk:density=0.1",
      "dear+ps:placement=apart,servers=1,local=2",
      "bytescheduler+ps:local=0",
      "fusion+neighbor-allreduce:topology=ring+atc",
      "fusion+neighbor-allreduce:topology=exp+awc:window=backward",
      "fusion+hierarchical-neighbor-allreduce:local=1+awc",
      "dear+hierarchical-neighbor-allreduce:local=1,style=leader+atc",
      "fusion+neighbor-allreduce+pga:every=2",
      "dear+neighbor-allreduce:topology=ring+pga:every=2",
      "fusion+all-reduce+local-sgd:every=2",
      "bytescheduler:credit-mb=0+local-sgd:every=2",
      "wfbp+neighbor-allreduce:topology=ring+local-sgd:every=2",
      "fusion+all-reduce+diloco:every=2",
      "wfbp+rs-ag+diloco:every=2,outer-lr=1,outer-momentum=0",
      "fusion+all-reduce+diloco:every=4,fragments=2,delay=1,mix=0.5",
      "dear+rs-ag+diloco:every=4,fragments=2,delay=1",
      "fusion+all-reduce+topk:density=0.3+diloco:every=2",
      "fusion+all-reduce+slowmo:every=2",
      "dear+rs-ag+slowmo:every=2",
      "bytescheduler+slowmo:every=2",
      "wfbp+neighbor-allreduce+gradient-tracking",
      "bytescheduler+neighbor-allreduce:topology=ring+gradient-tracking",
      "fusion+neighbor-allreduce:topology=ring+exact-diffusion",
      "dear+neighbor-allreduce:topology=ring+exact-diffusion",
      "fusion+hierarchical-neighbor-allreduce:local=1,topology=ring+exact-diffusion",
      "bytescheduler+neighbor-allreduce:topology=ring+decentlam",
      "wfbp+neighbor-allreduce:topology=ring+topk:density=0.3",
      "bytescheduler:partition-mb=0.00008,credit-mb=0+neighbor-allreduce:topology=ring+ef-sign",
      "dear+neighbor-allreduce:topology=full,gamma=0.5+random-k:density=0.3",
      "fusion+neighbor-allreduce:topology=ring+qsgd+awc",
      "bytescheduler+neighbor-allreduce+topk:density=0.3",
      "dear+neighbor-allreduce:topology=exp+random-k:density=0.3+awc",
      "wfbp+push-sum:topology=star+topk:density=0.3",
      "fusion+neighbor-allreduce:topology=ring+powersgd:rank=1",
      "wfbp+push-sum:topology=star+powersgd+atc",
      "fusion+hierarchical-neighbor-allreduce:local=1+qsgd",
      "dear+neighbor-allreduce:topology=ring+ef-sign+awc:window=backward",
      "fusion+neighbor-allreduce:topology=ring+bf16+local-sgd:every=2",
      "fusion+neighbor-allreduce:topology=ring+topk:density=0.3+pga:every=2",
      "bytescheduler+rs-ag+zero-1",
      "wfbp+rs-ag+zero-1",
      "dear+rs-ag+zero-1",
      "fusion+hierarchical:local=1+zero-1",
      "bytescheduler+rs-ag+zero-2",
      "wfbp+rs-ag+zero-2",
      "dear+rs-ag+zero-2",
      "fusion+hierarchical:local=1+zero-2"};
  for (const auto& row : whole_strategies()) {
    if (row.make != nullptr) {
      names.emplace_back(row.name);
    }
  }
  for (const auto& exchange : exchanges()) {
    for (const auto& schedule : schedules()) {
      names.push_back(fmt::format("{}+{}", schedule.name, exchange.name));
    }
    for (const auto& codec : codecs()) {
      const bool coded = exchange.make_coded != nullptr && codec.guarantee != Guarantee::kNeutral;
      names.push_back(
          fmt::format("fusion+{}{}+{}", exchange.name, coded ? ":topology=ring" : "", codec.name));
    }
    for (const auto& update : update_rules()) {
      const bool fixed = update.name == "exact-diffusion";
      names.push_back(
          fmt::format("fusion+{}{}+{}", exchange.name, fixed ? ":topology=ring" : "", update.name));
    }
  }
  std::vector<std::string> texts;
  for (const std::string& name : names) {
    try {
      const std::string text = parse_strategy(name, kSmallBuckets).text();
      if (std::ranges::find(texts, text) == texts.end()) {
        texts.push_back(text);
      }
    } catch (const UsageError&) {
      continue;  // the mathematics forbids it
    }
  }
  return texts;
}

/// What the first rank does in its first step.
inline plan::CommPlan first_plan(const std::string& text) {
  const auto planner = make_planner(parse_strategy(text));
  const plan::PlanInput input = plan::input_of(plan::tiny_model(), ranks_for(text));
  return planner->plan(input, planner->setup(input), 0);
}

/// Those whose ops the executor itself performs, and whose result does not depend on timing.
inline std::vector<std::string> performed_strategies() {
  std::vector<std::string> texts = strategy_texts();
  std::erase_if(texts, [](const std::string& text) {
    const plan::CommPlan plan = first_plan(text);
    return plan::has_ops_of_other_owners(plan) || plan::has_slack(plan);
  });
  return texts;
}

/// Those that mix what has arrived, which depends on timing.
inline std::vector<std::string> late_strategies() {
  std::vector<std::string> texts = strategy_texts();
  std::erase_if(texts, [](const std::string& text) { return !plan::has_slack(first_plan(text)); });
  return texts;
}

}  // namespace paceline::strategies
