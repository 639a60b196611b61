// SPDX-License-Identifier: Apache-2.0
#include "paceline/simulator/job_cache.h"

#include <algorithm>

namespace paceline::simulator {
namespace {

/// The largest number of items of all cached jobs together: about 0.5 GB.  The most recent job is
/// kept even if it is larger.
constexpr std::size_t kMostKeptItems = 2'000'000;

bool has_same_plan(const plan::ParameterShape& a, const plan::ParameterShape& b) {
  return a.name == b.name && a.sizes == b.sizes && a.module == b.module;
}

bool has_same_plan(const plan::ModelShape& a, const plan::ModelShape& b) {
  return a.name == b.name && a.modules == b.modules && a.dtype == b.dtype &&
         a.ready_order == b.ready_order &&
         std::ranges::equal(a.parameters, b.parameters,
                            [](const auto& p, const auto& q) { return has_same_plan(p, q); });
}

/// Whether two inputs agree in everything that a plan depends on except times.
bool has_same_plan(const plan::PlanInput& a, const plan::PlanInput& b) {
  return a.rank == b.rank && a.world == b.world && a.local_world == b.local_world &&
         a.micro_batches == b.micro_batches && a.loss_scaling == b.loss_scaling &&
         a.clip_norm == b.clip_norm && a.optimizer.name == b.optimizer.name &&
         a.optimizer.state_buffers == b.optimizer.state_buffers && has_same_plan(a.model, b.model);
}

}  // namespace

std::shared_ptr<const Job> JobCache::compiled(const strategies::StrategySpec& strategy,
                                              const plan::PlanInput& input,
                                              const JobOptions& options) {
  const auto compile_now = [&] {
    return std::make_shared<const Job>(
        compile(*strategies::make_planner(strategy), input, options));
  };
  if (strategies::needs_times(strategy)) {
    return compile_now();
  }
  const std::string text = strategy.text();
  const auto known = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.strategy == text && entry.job->options == options &&
           has_same_plan(entry.job->input, input);
  });
  if (known != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, known);
    ++reused_;
    return entries_.front().job;
  }
  auto job = compile_now();
  entries_.push_front({text, job});
  drop_oldest();
  return job;
}

void JobCache::drop_oldest() {
  std::size_t items = 0;
  const auto too_many = std::ranges::find_if(entries_, [&](const Entry& entry) {
    items += entry.job->items.size();
    return items > kMostKeptItems && &entry != &entries_.front();
  });
  entries_.erase(too_many, entries_.end());
}

}  // namespace paceline::simulator
