// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "paceline/execution/issue_queue.h"
#include "paceline/plan/frontier.h"

namespace paceline::execution {

/// Decides which ops of the open steps may start now: those whose hazards are gone (plan::Frontier)
/// and that their communicator's issue rule allows (IssueQueue).  Of the ready kernels, the one
/// with the smallest (priority, step, index) is chosen.
///
/// This class uses no threads and no tensors.  The caller must hold a lock during each call.
class Scheduler {
 public:
  /// `one_order`: all communicators together issue in program order
  /// (plan::EngineTraits::one_issue_order).
  Scheduler(const plan::ModelShape& model, const plan::Setup& setup, plan::Rank rank,
            bool one_order = false);

  /// A further condition that an op must fulfill to be started.
  using Allowed = std::function<bool(plan::OpRef)>;

  /// Opens `step`, which must follow the last one opened.
  void open(plan::Step step, const std::shared_ptr<const plan::CommPlan>& plan);

  /// Reports that a ready op is done.  An op in flight no longer uses its communicator's credit.
  void complete(plan::OpRef ref);

  /// Like plan::Frontier::enqueue(); an op in flight still uses its communicator's credit.
  void enqueue(plan::OpRef ref);

  /// Returns the collective or exchange to issue now, of the candidates of all communicators
  /// (plan::IssueCandidate).  It counts as in flight since `now_ns`.
  std::optional<plan::OpRef> take_communication(std::int64_t now_ns, const Allowed& allowed = {});

  /// Reports that an op that was taken could not start: it is not in flight.
  void remove_unstarted(plan::OpRef ref) { in_flight_.erase(ref); }

  /// Returns the kernel to run now; with `urgent`, only a kernel that communication waits for.  The
  /// kernel counts as running until complete() is called; meanwhile no kernel that excludes it is
  /// taken.
  std::optional<plan::OpRef> take_kernel(bool urgent = false, const Allowed& allowed = {});
  std::size_t ready_kernels() const { return urgent_kernels_.size() + kernels_.size(); }
  std::size_t urgent_kernels() const { return urgent_kernels_.size(); }

  /// The collectives and exchanges that are issued and not complete, with the time of their issue
  /// in ns.
  const std::map<plan::OpRef, std::int64_t>& in_flight() const { return in_flight_; }

  /// The queues by CommunicatorId.
  std::vector<IssueQueue>& queues() { return queues_; }
  const IssueQueue& queue_of(plan::OpRef ref) const;

  const plan::Frontier& frontier() const { return frontier_; }

  /// Returns how stale the values were that kernels have read since the last call: for each number
  /// of steps, how many kernels missed the writes of that many newest steps. Only kernels that read
  /// with slack count.
  std::map<plan::Step, std::int64_t> take_staleness() { return std::exchange(staleness_, {}); }

  /// Returns the first collective of the newest step that another owner than the executor issues
  /// and that is neither enqueued nor complete.
  std::optional<plan::OpRef> first_pending_op_of_other_owner() const;

  /// Returns the first model work of the newest step that is neither enqueued nor complete.
  std::optional<plan::OpRef> first_pending_model_op() const;

 private:
  using KernelKey = std::tuple<std::int32_t, plan::Step, plan::OpIndex>;

  void collect_ready();
  bool is_excluded_by_running(plan::OpRef ref) const;
  void count_staleness(plan::OpRef ref);
  template <class Predicate>
  std::optional<plan::OpRef> first_incomplete(const Predicate& wanted) const;

  const plan::Setup& setup_;
  const bool one_order_;
  plan::Frontier frontier_;
  std::deque<plan::OpRef> to_issue_;  // only if `one_order`: the ops of all communicators, in
                                      // program order
  std::vector<IssueQueue> queues_;
  std::set<KernelKey> urgent_kernels_, kernels_;  // ready to run
  std::set<plan::OpRef> running_;                 // kernels that run
  std::map<plan::Step, std::int64_t> staleness_;
  std::map<plan::OpRef, std::int64_t> in_flight_;
  plan::Step newest_step_ = -1;
  std::shared_ptr<const plan::CommPlan> newest_plan_;
};

}  // namespace paceline::execution
