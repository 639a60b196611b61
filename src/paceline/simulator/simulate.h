// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "paceline/cluster/collective_model.h"
#include "paceline/cluster/fair_share.h"
#include "paceline/cluster/machine.h"
#include "paceline/plan/int128.h"
#include "paceline/plan/issue_rule.h"
#include "paceline/plan/profile.h"
#include "paceline/simulator/event_queue.h"
#include "paceline/simulator/job.h"

namespace paceline::simulator {

/// All costs that can change from one simulation of a job to the next without planning again.
struct Costs {
  cluster::Machine machine;
  cluster::SoftwareCosts software;
  plan::LayerProfile profile;       // of one micro-batch on one device
  bool free_communication = false;  // communication takes no time
};

/// The result of a simulation.  A step lasts from the start of its first forward to the start of
/// the next step's first forward.
struct StepTimes {
  /// Time of a step on its slowest rank: mean over the last `window` steps.
  plan::Picoseconds step = 0;
  plan::Picoseconds compute = 0;         // model work per step, averaged like `step`
  plan::Picoseconds flush = 0;           // from the end of the last step until all ops are complete
  bool steady = false;                   // steps repeat exactly, so more steps give the same result
  std::vector<plan::Picoseconds> steps;  // time of each step on its slowest rank
  plan::Step window = 1;                 // number of last steps over which means are taken
  std::uint64_t events = 0;
};

/// The begin and the end of an item or a transfer, from the start of the first step.
struct RunInterval {
  plan::Picoseconds begin = -1, end = -1;
};

/// The number of bytes that cross one link of the machine.
struct LinkBytes {
  std::uint32_t link = 0;
  std::int64_t bytes = 0;
};

/// Executes compiled plans in virtual time.
///
/// Model work takes the times of the layer profile, one op after another on each rank.  Kernels run
/// in parallel with it, one at a time, smallest priority first.  A communication op is issued when
/// the ops that it waits for are complete, its communicator's order allows it and the bytes in
/// flight are below the credit.  A transfer starts when all its participants have issued it.
/// docs/simulator.md has the full model.
///
/// Times are whole picoseconds, and events are ordered by (time, sequence number).  All decisions
/// for one time are made together, so the result depends only on the inputs, and folded ranks run
/// exactly as unfolded ones.  The handlers of events only record which items have ended and which
/// may now start.  After the last event of a time, start_all_possible() starts them, actor by actor
/// and queue by queue, each in its own order.
class Simulator {
 public:
  /// `job` must outlive the simulator.
  explicit Simulator(const Job& job);

  /// Simulates the job; stops early if steps repeat.  Throws UsageError for invalid costs, or costs
  /// that differ between folded ranks, and PlanError, which names the ops that wait for each other,
  /// if the ranks block.
  StepTimes run(const Costs& costs);

  /// Computes the cost of every transfer without executing the plan; run() begins with this.
  /// Throws UsageError as run() does.
  void set_costs(const Costs& costs);

  /// Returns the begin and the end of each item or transfer in the last run; -1 if the run did not
  /// reach it.
  const std::vector<RunInterval>& items() const { return item_intervals_; }
  const std::vector<RunInterval>& transfers() const { return transfer_intervals_; }

  /// Returns the step times of one of the job's actors in the last run.
  std::vector<plan::Picoseconds> step_times_of(const Actor& actor) const;

  /// The number of steps of the last run, counted back from the last one with a known time, over
  /// which means are taken.
  std::int32_t window() const;

  /// Returns the bytes that crossed the first link in the last run.  If each device has a link of
  /// its own, these are the bytes that the first simulated rank's device sent.
  std::int64_t bytes_sent() const { return network_.crossed(0); }

  /// Returns the bytes that one transfer adds to each link under the costs that were set last.
  std::vector<LinkBytes> loads_of(TransferId transfer) const;

  /// Returns the rate of a link under the costs that were set last.
  std::int64_t bytes_per_s(std::uint32_t link) const { return capacities_[link]; }

  /// Returns the time that the busiest link needs for one step's bytes at its rate under the costs
  /// that were set last; the mean over a period of steps.
  plan::Picoseconds busiest_link_time() const;

 private:
  /// The op that runs as model work of a rank, or as its kernel.
  struct RunningOp {
    ItemId item = 0;
    bool busy = false;
    std::uint32_t event = 0;
    std::int64_t speed = cluster::kWeightOne;
    plan::Int128 left = 0;  // remaining time at full speed, in units of 1 / kWeightOne
    plan::Picoseconds since = 0;
  };
  /// A pair (order, id); the smallest pair comes first.
  using OrderedId = std::pair<std::int64_t, std::uint32_t>;
  using OrderedIdQueue = std::priority_queue<OrderedId, std::vector<OrderedId>, std::greater<>>;
  struct ActorState {
    RunningOp model, kernel;
    bool computes = false;  // whether link rates are those of a computing rank
    bool dirty = false;
    bool issuing = false;
    std::int32_t in_flight = 0;  // transfers in flight
    OrderedIdQueue kernels;      // ready kernels
    // If kernels and model work take turns on the device: `updates` has the ready update kernels,
    // and `waiting` the model work that waits for the device.
    OrderedIdQueue updates;
    std::optional<ItemId> waiting;
    // If all communicators issue in program order: `next_in_order` is the item after the one issued
    // last, `offered` says whether its queue has it as ready, `last_issued` is the item issued
    // last, and `not_ended` is the number of issued items that have not ended.
    ItemId next_in_order = 0;
    bool offered = false;
    ItemId last_issued = 0;
    std::int32_t not_ended = 0;
  };
  struct TransferQueue {              // the transfers of one transfer queue
    std::queue<TransferId> to_start;  // transfers that all their items have issued
    bool dirty = false;
    std::int32_t transfers_under_way = 0;  // number of transfers that are running
  };
  struct TransferLoad {  // load that a transfer puts on a link
    std::uint32_t link = 0;
    bool device = true;
    std::int64_t times = 1, of = 1;
  };
  struct ItemState {
    /// Numbers of items that it waits for and of its transfers, not yet ended.
    std::int32_t waits = 0, transfers = 0;
    bool ready = false, issued = false;
  };

  // These members are defined in simulator_costs.cc.
  void set_links();
  void set_loads();
  std::vector<bool> copying_hosts() const;
  TransferLoad network_load(const NetworkEnd& end) const;
  void set_transfer_costs();
  plan::Picoseconds duration_of(const Item& item) const;
  void find_updates();
  plan::Picoseconds kernel_time(const KernelShape& shape) const;
  double noise(const Actor& actor, std::int32_t step) const;

  // These members are defined in simulator.cc.
  void reset();
  void handle(const Event& event);
  void complete(ItemId id);
  void ready(ItemId id);
  void touch(std::uint32_t actor);
  void start(RunningOp& lane, ItemId id, EventKind kind);
  void set_model_speed(RunningOp& model, std::int64_t speed);
  void start_all_possible();
  const std::vector<std::uint32_t>& take(std::vector<std::uint32_t>& dirty);
  void start_actor_ops(std::uint32_t actor);
  void start_kernel(ActorState& state, OrderedIdQueue& ready);
  void start_next_device_op(ActorState& state);
  void update_speeds(std::uint32_t actor);
  void update_device_link_rate(std::uint32_t actor, bool computes);
  void step_ended();
  bool repeats(std::int32_t step) const;
  plan::Picoseconds end_before(const Actor& actor, std::int32_t step) const;
  plan::Picoseconds start_of(const Actor& actor, std::int32_t step) const;
  std::int32_t measured_steps() const;
  plan::Picoseconds model_work(const Actor& actor, std::int32_t step) const;
  StepTimes result() const;

  // These members are defined in simulator_transfers.cc.
  void issue_ready(std::uint32_t actor);
  plan::IssueRule& queue_of(const Item& item);
  void issue_from_queue(std::uint32_t queue, ItemId item);
  bool offer_next(std::uint32_t actor);
  bool may_overlap_last(ItemId item) const;
  void leave_queue(const Item& item);
  void issued(ItemId id);
  void start_queued_transfers(std::uint32_t transfer_queue);
  void start_transfer(TransferId id);
  void start_flow(TransferId id);
  static std::int64_t weight(const cluster::TransferCost& cost, const TransferLoad& load);
  void end_transfer(TransferId id);
  void change_in_flight(TransferId id, std::int32_t by);
  bool computes(TransferId id) const;
  void mark_transfer_queue_dirty(std::uint32_t transfer_queue);
  const std::optional<cluster::TransferCost>& cost_of(const Transfer& transfer) const;

  // These members are defined in simulator_deadlock.cc.
  [[noreturn]] void throw_deadlock() const;
  ItemId blocker(ItemId id) const;
  std::optional<ItemId> op_required_before(ItemId id) const;

  const Job& job_;
  Costs costs_;
  std::vector<RunInterval> item_intervals_, transfer_intervals_;
  bool varies_ = false;         // whether the speed of compute may change during an op
  bool program_order_ = false;  // whether all communicators of a rank issue in program order

  EventQueue events_;
  cluster::FairShare network_;
  plan::Picoseconds now_ = 0;
  std::vector<ItemState> item_, fresh_item_;  // state of each item now, and before a run
  std::vector<ActorState> actors_;
  std::vector<std::int32_t> computing_;  // number of computing ranks, by device link
  /// By item: whether it is an update kernel for which no communication of its step waits.  Model
  /// work runs before such kernels.
  std::vector<char> is_deferrable_update_;
  std::vector<plan::IssueRule> queues_, fresh_queues_;
  /// For each queue: the queues whose leader it is.
  std::vector<std::vector<std::uint32_t>> followers_;
  std::vector<TransferQueue> transfer_queues_;
  std::vector<std::uint32_t> absent_;  // by transfer: items that are not issued
  std::vector<std::uint32_t> dirty_actors_, dirty_transfer_queues_, settling_;
  std::vector<std::int64_t> left_in_step_;  // for each step: number of items that have not ended
  std::vector<ItemId> first_model_work_;    // by actor and step: first item of model work
  std::vector<ItemId> last_model_work_;     // by actor and step: last item of model work
  std::int32_t ended_steps_ = 0;
  bool steady_ = false;

  // Times by shape of the kernel or transfer, and rates by link.
  std::vector<plan::Picoseconds> kernel_times_;
  std::vector<std::optional<cluster::TransferCost>> collective_costs_, message_costs_;
  std::vector<std::int64_t> capacities_;
  std::uint32_t network_links_ = 0;  // index of the first network link
  std::uint32_t first_copies_ = 0;   // index of the first link of copies; there is one per host
  std::vector<TransferLoad> loads_;  // loads of all transfers
  std::vector<std::uint32_t> first_load_;
  std::vector<cluster::LinkLoad> flow_loads_;
  cluster::Machine linked_;  // the machine from whose links loads_ were computed
};

/// Compiles the job and runs it once.
StepTimes simulate(const plan::Planner& planner, const plan::PlanInput& input, const Costs& costs,
                   const JobOptions& options = {});

}  // namespace paceline::simulator
