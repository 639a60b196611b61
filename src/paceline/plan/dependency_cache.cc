// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/dependency_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace paceline::plan {
namespace {

// The largest number of cached histories.  Without a limit, plans that never repeat (random
// matchings) would fill the memory.
constexpr std::size_t kMostStates = 64;

}  // namespace

DependencyCache::DependencyCache(const ModelShape& model, const Setup& setup)
    : now_(state_of(DependencyAnalyzer(model, setup))) {}

DependencyCache::State* DependencyCache::state_of(DependencyAnalyzer analyzer) {
  for (const auto& state : states_) {
    if (state->analyzer.has_same_history(analyzer)) {
      return state.get();
    }
  }
  states_.push_back(std::make_unique<State>(State{std::move(analyzer), {}, {}}));
  return states_.back().get();
}

// If there are too many states, drops all but the current history.
void DependencyCache::limit_states() {
  if (states_.size() > kMostStates) {
    DependencyAnalyzer analyzer = std::move(now_->analyzer);
    states_.clear();
    now_ = state_of(std::move(analyzer));
  }
}

std::shared_ptr<const Dependencies> DependencyCache::open(
    const std::shared_ptr<const CommPlan>& plan) {
  auto found = std::ranges::find(now_->opened, plan, &State::Opened::plan);
  if (found == now_->opened.end()) {
    limit_states();
    ++derived_;
    DependencyAnalyzer analyzer = now_->analyzer;
    auto dependencies = std::make_shared<const Dependencies>(analyzer.open(0, *plan));
    analyzer.shift(-1);
    now_->opened.push_back({plan, std::move(dependencies), state_of(std::move(analyzer))});
    found = std::prev(now_->opened.end());
  }
  now_ = found->next;
  return found->dependencies;
}

void DependencyCache::forget_before(Step step) {
  const auto found = now_->forgotten.find(step);
  if (found != now_->forgotten.end()) {
    now_ = found->second;
    return;
  }
  limit_states();
  DependencyAnalyzer analyzer = now_->analyzer;
  analyzer.forget_before(step);
  State* const next = state_of(std::move(analyzer));
  now_->forgotten.emplace(step, next);
  now_ = next;
}

}  // namespace paceline::plan
