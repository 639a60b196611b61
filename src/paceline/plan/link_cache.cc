// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/link_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace paceline::plan {
namespace {

// Plans that never come back (random matchings) would fill the memory.
constexpr std::size_t kMostStates = 64;

}  // namespace

LinkCache::LinkCache(const ModelShape& model, const Setup& setup)
    : now_(known(Linker(model, setup))) {}

LinkCache::State* LinkCache::known(Linker linker) {
  for (const auto& state : states_) {
    if (state->linker.remembers_as(linker)) {
      return state.get();
    }
  }
  states_.push_back(std::make_unique<State>(State{std::move(linker), {}, {}}));
  return states_.back().get();
}

// Where there are too many states, the graph begins anew with this one.
void LinkCache::bound() {
  if (states_.size() > kMostStates) {
    Linker linker = std::move(now_->linker);
    states_.clear();
    now_ = known(std::move(linker));
  }
}

std::shared_ptr<const Links> LinkCache::open(
    const std::shared_ptr<const CommPlan>& plan) {
  auto found = std::ranges::find(now_->opened, plan, &State::Opened::plan);
  if (found == now_->opened.end()) {
    bound();
    ++derived_;
    Linker linker = now_->linker;
    auto links = std::make_shared<const Links>(linker.open(0, *plan));
    linker.shift(-1);
    now_->opened.push_back({plan, std::move(links), known(std::move(linker))});
    found = std::prev(now_->opened.end());
  }
  now_ = found->next;
  return found->links;
}

void LinkCache::forget_before(Step step) {
  const auto found = now_->forgotten.find(step);
  if (found != now_->forgotten.end()) {
    now_ = found->second;
    return;
  }
  bound();
  Linker linker = now_->linker;
  linker.forget_before(step);
  State* const next = known(std::move(linker));
  now_->forgotten.emplace(step, next);
  now_ = next;
}

}  // namespace paceline::plan
