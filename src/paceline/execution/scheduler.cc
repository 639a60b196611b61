// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/scheduler.h"

#include <algorithm>
#include <variant>

#include "paceline/plan/cost.h"

namespace paceline::execution {

Scheduler::Scheduler(const plan::ModelShape& model, const plan::Setup& setup, plan::Rank rank,
                     bool one_order)
    : setup_(setup), one_order_(one_order), frontier_(model, setup) {
  for (const plan::Communicator& group : setup.communicators) {
    queues_.emplace_back(group, group.members.index_of_rank(rank) == std::size_t{0});
  }
}

void Scheduler::open(plan::Step step, const std::shared_ptr<const plan::CommPlan>& plan) {
  newest_step_ = step;
  newest_plan_ = plan;
  frontier_.open(step, plan);
  for (std::size_t i = 0; i < plan->ops.size(); ++i) {
    const plan::Op& op = plan->ops[i];
    if (const auto on = plan::communicator_of(op); on && op.performer.empty()) {
      queues_[plan::index_of(*on)].push({step, static_cast<plan::OpIndex>(i)},
                                        std::holds_alternative<plan::Collective>(op.work),
                                        op.priority, plan::credit_bytes_of(setup_, op));
      if (one_order_) {
        to_issue_.push_back({step, static_cast<plan::OpIndex>(i)});
      }
    }
  }
  collect_ready();
}

void Scheduler::enqueue(plan::OpRef ref) {
  frontier_.enqueue(ref);
  collect_ready();
}

void Scheduler::complete(plan::OpRef ref) {
  if (in_flight_.erase(ref) > 0) {
    const plan::Op& op = frontier_.op(ref);
    queues_[plan::index_of(*plan::communicator_of(op))].end(plan::credit_bytes_of(setup_, op));
  }
  running_.erase(ref);
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

const IssueQueue& Scheduler::queue_of(plan::OpRef ref) const {
  return queues_[plan::index_of(*plan::communicator_of(frontier_.op(ref)))];
}

std::optional<plan::OpRef> Scheduler::take_communication(std::int64_t now_ns,
                                                         const Allowed& allowed) {
  const auto may_go = [&](plan::OpRef asked) {
    return frontier_.is_ready(asked) && (!one_order_ || to_issue_.front() == asked) &&
           (!allowed || allowed(asked));
  };
  std::optional<plan::IssueCandidate<plan::OpRef>> first;
  for (std::size_t on = 0; on < queues_.size(); ++on) {
    if (const auto ref = queues_[on].next(may_go)) {
      const plan::IssueCandidate<plan::OpRef> candidate{frontier_.op(*ref).priority, *ref, on};
      first = std::min(first.value_or(candidate), candidate);
    }
  }
  if (!first) {
    return std::nullopt;
  }
  const plan::OpRef ref = queues_[first->queue].issue();
  in_flight_.emplace(ref, now_ns);
  if (one_order_) {
    to_issue_.pop_front();
  }
  return ref;
}

std::optional<plan::OpRef> Scheduler::take_kernel(bool urgent, const Allowed& allowed) {
  const auto first = [&](const std::set<KernelKey>& kernels) {
    return std::ranges::find_if(kernels, [&](const KernelKey& key) {
      const plan::OpRef ref{std::get<1>(key), std::get<2>(key)};
      return !is_excluded_by_running(ref) && (!allowed || allowed(ref));
    });
  };
  const auto urgent_one = first(urgent_kernels_);
  const auto other = urgent ? kernels_.end() : first(kernels_);
  const bool takes_other =
      other != kernels_.end() && (urgent_one == urgent_kernels_.end() || *other < *urgent_one);
  if (!takes_other && urgent_one == urgent_kernels_.end()) {
    return std::nullopt;
  }
  auto& from = takes_other ? kernels_ : urgent_kernels_;
  const auto taken = takes_other ? other : urgent_one;
  const plan::OpRef ref{std::get<1>(*taken), std::get<2>(*taken)};
  from.erase(taken);
  count_staleness(ref);
  running_.insert(ref);
  return ref;
}

// Whether the kernel must wait because it excludes a kernel that is running.
bool Scheduler::is_excluded_by_running(plan::OpRef ref) const {
  const std::vector<plan::OpRef> own = frontier_.incomplete_exclusions_of(ref);
  return std::ranges::any_of(running_, [&](plan::OpRef runs) {
    return std::ranges::count(own, runs) > 0 ||
           std::ranges::count(frontier_.incomplete_exclusions_of(runs), ref) > 0;
  });
}

void Scheduler::count_staleness(plan::OpRef ref) {
  const auto& kernel = std::get<plan::Kernel>(frontier_.op(ref).work);
  // A kernel reads the newest values of a slice that it changes in place, so such reads do not
  // count.
  const auto late = [&](const plan::Access& access) {
    return access.slack > 0 && std::ranges::find(kernel.writes, access.slice,
                                                 &plan::Access::slice) == kernel.writes.end();
  };
  if (std::ranges::none_of(kernel.reads, late)) {
    return;
  }
  plan::Step missed = 0;
  for (const plan::OpRef other : frontier_.incomplete_exclusions_of(ref)) {
    const auto& writer = std::get<plan::Kernel>(frontier_.op(other).work);
    const bool is_read = std::ranges::any_of(writer.writes, [&](const plan::Access& written) {
      return std::ranges::any_of(kernel.reads, [&](const auto& read) {
        return read.slack > 0 && overlap(read.slice, written.slice);
      });
    });
    missed = std::max(missed, is_read ? ref.step - other.step + 1 : 0);
  }
  ++staleness_[missed];
}

template <class Predicate>
std::optional<plan::OpRef> Scheduler::first_incomplete(const Predicate& wanted) const {
  for (std::size_t i = 0; newest_plan_ && i < newest_plan_->ops.size(); ++i) {
    const plan::OpRef ref{newest_step_, static_cast<plan::OpIndex>(i)};
    if (wanted(newest_plan_->ops[i]) && !frontier_.is_enqueued(ref)) {
      return ref;
    }
  }
  return std::nullopt;
}

std::optional<plan::OpRef> Scheduler::first_pending_op_of_other_owner() const {
  return first_incomplete([](const plan::Op& op) {
    return !op.performer.empty() && std::holds_alternative<plan::Collective>(op.work);
  });
}

std::optional<plan::OpRef> Scheduler::first_pending_model_op() const {
  return first_incomplete([](const plan::Op& op) {
    return std::holds_alternative<plan::Forward>(op.work) ||
           std::holds_alternative<plan::Backward>(op.work);
  });
}

}  // namespace paceline::execution
