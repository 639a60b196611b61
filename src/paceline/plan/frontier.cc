// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/frontier.h"

#include <algorithm>
#include <utility>

#include "paceline/base/error.h"

namespace paceline::plan {
namespace {

std::size_t at(OpRef ref) { return static_cast<std::size_t>(ref.op); }

}  // namespace

Frontier::Frontier(const ModelShape& model, const Setup& setup) : analyzer_(model, setup) {}

const Frontier::OpenStep* Frontier::find(Step step) const {
  if (steps_.empty() || step < steps_.front().step) {
    return nullptr;  // the step is finished and forgotten
  }
  const auto index = static_cast<std::size_t>(step - steps_.front().step);
  PACELINE_CHECK(index < steps_.size());
  return &steps_[index];
}

Frontier::OpenStep* Frontier::find(Step step) {
  return const_cast<OpenStep*>(std::as_const(*this).find(step));
}

void Frontier::open(Step step, const std::shared_ptr<const CommPlan>& plan) {
  PACELINE_CHECK_EQ(step, next_step_);
  ++next_step_;
  const std::size_t ops = plan->ops.size();
  steps_.push_back({.step = step,
                    .plan = plan,
                    .dependencies = analyzer_.open(plan),
                    .incomplete_predecessors = std::vector<std::int32_t>(ops, 0),
                    .state = std::vector<State>(ops, State::kWaiting),
                    .successors = std::vector<std::vector<OpRef>>(ops),
                    .remaining = ops});
  OpenStep& opened = steps_.back();
  for (std::size_t i = 0; i < ops; ++i) {
    const OpRef me{step, static_cast<OpIndex>(i)};
    for (const OpRef wait : opened.dependencies->waits_for[i]) {
      const OpRef before{step + wait.step, wait.op};
      if (!is_enqueued(before)) {
        find(before.step)->successors[at(before)].push_back(me);
        ++opened.incomplete_predecessors[i];
      }
    }
    if (opened.incomplete_predecessors[i] == 0) {
      opened.state[i] = State::kReady;
      ready_.push_back(me);
    }
  }
  forget_finished();  // the opened step may have no ops
}

void Frontier::enqueue(OpRef ref) {
  OpenStep* step = find(ref.step);
  PACELINE_CHECK(step != nullptr);
  PACELINE_CHECK(step->state[at(ref)] == State::kReady);
  step->state[at(ref)] = State::kEnqueued;
  for (const OpRef next : step->successors[at(ref)]) {
    OpenStep& target = *find(next.step);
    if (--target.incomplete_predecessors[at(next)] == 0) {
      target.state[at(next)] = State::kReady;
      ready_.push_back(next);
    }
  }
}

void Frontier::complete(OpRef ref) {
  if (!is_enqueued(ref)) {
    enqueue(ref);
  }
  OpenStep* step = find(ref.step);
  PACELINE_CHECK(step != nullptr);
  PACELINE_CHECK(step->state[at(ref)] == State::kEnqueued);
  step->state[at(ref)] = State::kComplete;
  --step->remaining;
  forget_finished();
}

// Finished steps after an open step stay in steps_, because find() computes indices from step
// numbers.
void Frontier::forget_finished() {
  while (!steps_.empty() && steps_.front().remaining == 0) {
    steps_.pop_front();
    analyzer_.forget_before(steps_.empty() ? 0 : steps_.front().step - next_step_);
  }
}

std::vector<OpRef> Frontier::take_ready() {
  std::vector<OpRef> taken = std::exchange(ready_, {});
  std::sort(taken.begin(), taken.end());
  return taken;
}

std::vector<OpRef> Frontier::incomplete_exclusions_of(OpRef ref) const {
  std::vector<OpRef> others;
  const OpenStep* step = find(ref.step);
  PACELINE_CHECK(step != nullptr);
  for (const OpRef other : step->dependencies->excludes[at(ref)]) {
    const OpRef earlier{ref.step + other.step, other.op};
    if (!is_complete(earlier)) {
      others.push_back(earlier);
    }
  }
  return others;
}

bool Frontier::is_ready(OpRef ref) const {
  const OpenStep* step = find(ref.step);
  return step == nullptr || step->state[at(ref)] != State::kWaiting;
}

bool Frontier::is_enqueued(OpRef ref) const {
  const OpenStep* step = find(ref.step);
  return step == nullptr || step->state[at(ref)] >= State::kEnqueued;
}

bool Frontier::is_complete(OpRef ref) const {
  const OpenStep* step = find(ref.step);
  return step == nullptr || step->state[at(ref)] == State::kComplete;
}

const Op& Frontier::op(OpRef ref) const {
  const OpenStep* step = find(ref.step);
  PACELINE_CHECK(step != nullptr);
  return step->plan->ops[at(ref)];
}

bool Frontier::leads_to_communication(OpRef ref) const {
  const OpenStep* step = find(ref.step);
  return step != nullptr && std::ranges::any_of(step->successors[at(ref)], [&](OpRef next) {
           const Op& waiting = op(next);
           return communicator_of(waiting).has_value() ||
                  (std::holds_alternative<Kernel>(waiting.work) && leads_to_communication(next));
         });
}

std::vector<OpRef> Frontier::incomplete_waits_of(OpRef ref) const {
  const OpenStep* step = find(ref.step);
  PACELINE_CHECK(step != nullptr);
  std::vector<OpRef> before;
  for (const OpRef wait : step->dependencies->waits_for[at(ref)]) {
    const OpRef other{ref.step + wait.step, wait.op};
    if (!is_complete(other)) {
      before.push_back(other);
    }
  }
  return before;
}

std::vector<OpRef> Frontier::chain(OpRef ref) const {
  std::vector<OpRef> chain{ref};
  while (!is_ready(chain.back())) {
    const OpRef last = chain.back();
    const auto& edges = find(last.step)->dependencies->waits_for[at(last)];
    const auto blocker = std::find_if(edges.begin(), edges.end(), [&](OpRef wait) {
      return !is_enqueued({last.step + wait.step, wait.op});
    });
    PACELINE_CHECK(blocker != edges.end());
    chain.push_back({last.step + blocker->step, blocker->op});
  }
  return chain;
}

OpRef Frontier::oldest() const {
  PACELINE_CHECK(!steps_.empty());
  const OpenStep& step = steps_.front();
  const auto first = std::find_if(step.state.begin(), step.state.end(),
                                  [](State state) { return state != State::kComplete; });
  return {step.step, static_cast<OpIndex>(first - step.state.begin())};
}

}  // namespace paceline::plan
