// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/scheduler.h"

#include <variant>

#include "paceline/plan/cost.h"

namespace paceline::execution {

Scheduler::Scheduler(const plan::ModelShape& model,
                     const plan::Setup& setup,
                     plan::Rank rank)
    : setup_(setup), frontier_(model, setup) {
  for (const plan::Communicator& group : setup.communicators) {
    queues_.emplace_back(group, group.members.place_of(rank) == std::size_t{0});
  }
}

void Scheduler::open(plan::Step step,
                     const std::shared_ptr<const plan::CommPlan>& plan) {
  newest_step_ = step;
  newest_plan_ = plan;
  frontier_.open(step, plan);
  for (std::size_t i = 0; i < plan->ops.size(); ++i) {
    const plan::Op& op = plan->ops[i];
    if (const auto on = plan::communicator_of(op); on && op.performer.empty()) {
      queues_[plan::index_of(*on)].push(
          {step, static_cast<plan::OpIndex>(i)},
          std::holds_alternative<plan::Collective>(op.work),
          op.priority,
          plan::bytes_on_credit(setup_, op));
    }
  }
  collect_ready();
}

void Scheduler::complete(plan::OpRef ref) {
  if (in_flight_.erase(ref) > 0) {
    const plan::Op& op = frontier_.op(ref);
    queues_[plan::index_of(*plan::communicator_of(op))].end(
        plan::bytes_on_credit(setup_, op));
  }
  frontier_.complete(ref);
  collect_ready();
}

void Scheduler::collect_ready() {
  for (const plan::OpRef ref : frontier_.take_ready()) {
    const plan::Op& op = frontier_.op(ref);
    if (std::holds_alternative<plan::Kernel>(op.work) && op.performer.empty()) {
      (frontier_.leads_to_communication(ref) ? urgent_kernels_ : kernels_)
          .insert({op.priority, ref.step, ref.op});
    }
  }
}

std::optional<plan::OpRef> Scheduler::take_communication(std::size_t on,
                                                         std::int64_t now_ns) {
  const auto ref = queues_[on].pop(
      [this](plan::OpRef asked) { return frontier_.is_ready(asked); });
  if (ref) {
    in_flight_.emplace(*ref, now_ns);
  }
  return ref;
}

std::optional<plan::OpRef> Scheduler::take_kernel(bool urgent) {
  const bool from_urgent = urgent || kernels_.empty() ||
                           (!urgent_kernels_.empty() &&
                            *urgent_kernels_.begin() < *kernels_.begin());
  auto& from = from_urgent ? urgent_kernels_ : kernels_;
  if (from.empty()) {
    return std::nullopt;
  }
  const auto [priority, step, op] = *from.begin();
  from.erase(from.begin());
  return plan::OpRef{step, op};
}

template <class Predicate>
std::optional<plan::OpRef> Scheduler::first_incomplete(
    const Predicate& wanted) const {
  for (std::size_t i = 0; newest_plan_ && i < newest_plan_->ops.size(); ++i) {
    const plan::OpRef ref{newest_step_, static_cast<plan::OpIndex>(i)};
    if (wanted(newest_plan_->ops[i]) && !frontier_.is_complete(ref)) {
      return ref;
    }
  }
  return std::nullopt;
}

std::optional<plan::OpRef> Scheduler::first_of_performer() const {
  return first_incomplete([](const plan::Op& op) {
    return !op.performer.empty() &&
           std::holds_alternative<plan::Collective>(op.work);
  });
}

std::optional<plan::OpRef> Scheduler::first_of_model() const {
  return first_incomplete([](const plan::Op& op) {
    return std::holds_alternative<plan::Forward>(op.work) ||
           std::holds_alternative<plan::Backward>(op.work);
  });
}

}  // namespace paceline::execution
