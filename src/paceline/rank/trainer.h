// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paceline/base/scheduling.h"
#include "paceline/case/case.h"
#include "paceline/engines/engine.h"
#include "paceline/engines/peer_wait.h"
#include "paceline/networks/bags.h"
#include "paceline/networks/network.h"
#include "paceline/networks/precision.h"
#include "paceline/rank/mapped_data.h"
#include "paceline/rank/replay.h"
#include "paceline/rank/training_data.h"
#include "paceline/rank/window.h"
#include "paceline/records/run_record.h"
#include "paceline/runtime/device_clock.h"
#include "paceline/runtime/executor.h"
#include "paceline/runtime/memory.h"
#include "paceline/runtime/reducer.h"
#include "paceline/runtime/shape.h"
#include "paceline/strategies/embedding_job.h"
#include "paceline/strategies/strategy.h"

namespace paceline::rank {

/// The ranks that run a case together, and how they are connected: the channel of all these ranks,
/// without its time limit.
struct RankGroup : engines::ChannelSpec {
  engines::Engine* engine = nullptr;
  engines::PeerWait peers{};  // how to wait outside of steps
  /// Called by every rank of the group before it connects, equally often on each rank; returns when
  /// all ranks have called it.  May be empty.
  std::function<void()> before_connecting{};

  /// Returns the channel of all ranks of the group with the name `channel`, which must be new in
  /// the group, and with the time limit of `peers`.
  engines::ChannelSpec channel_named(const std::string& channel) const;
};

struct TrainerOptions {
  /// In a replay the trainer stretches the time limits.  The trainer sets `spare_core` itself.
  execution::Dispatcher::Options dispatcher{};
  bool integers = false;  // integer weights and batches and a summed loss, for exact results
  /// The initial loss scale; null: 65536 if the precision needs loss scaling (amp on cuda), else
  /// the loss is not scaled.
  std::optional<double> loss_scale{};
  /// A function that makes the network; null: the configuration's model.
  std::function<std::shared_ptr<networks::Network>()> network{};
  /// The batch of every step, for a network that `network` makes; null: the configuration's
  /// batches.
  std::optional<networks::Batch> batch{};
  /// A function that replaces this rank's order of layers and gradients by that of rank 0.  Null:
  /// the orders are equal on all ranks.
  runtime::OrderAgreement agree_on_order{};
  /// A function that returns the settings of the optimizer; empty: those of the configuration.
  std::function<runtime::OptimizerSettings(const plan::ModelShape&, const plan::Setup&)> rule{};
  /// The type of parameters and inputs; null: that of the precision.
  std::optional<at::ScalarType> dtype{};
  /// The planner, whose plans are not verified; null: that of the configuration's strategy.
  std::shared_ptr<const plan::Planner> planner{};
  /// The times for a strategy that needs them; absent: the trainer measures them briefly.
  std::optional<plan::LayerProfile> profile{};
  std::optional<plan::AlphaBeta> alpha_beta{};
};

/// One rank's training job: network, data, plan and executor.  In a replay a recorded profile takes
/// the place of the network, and nothing is trained.
class Trainer final : public TimedJob {
 public:
  /// Collective over the group.  All ranks start from rank 0's parameters.  Throws UsageError for a
  /// case that cannot run, WorldError for a lost rank.
  Trainer(cases::Case configuration, RankGroup group, TrainerOptions options = {});
  ~Trainer() override;

  /// Returns whether this rank has model work.  A rank without model work is a server: it holds no
  /// network, and only those parts of the buffers that its plan touches.
  bool trains() const;
  /// Returns "server 0" for the first server, as Case::role_of does for embedding tables;
  /// empty for a rank that trains.
  std::string role() const;

  StepTimes step() override;
  /// Begins the next step of a rank that trains.  For callers that drive the network and the
  /// executor's other functions themselves, in place of step().
  void begin_step();
  void drain() override;

  void mark() override { clock_.mark(); }
  std::vector<std::int64_t> take_marks() override { return clock_.take(); }

  /// Returns the bytes that entered the engine so far, over all communicators.
  engines::Ledger ledger() const;
  /// Returns the part of ledger() that belongs to the measured steps.
  engines::Ledger counted() const;
  /// Returns the wire bytes of the `steps` steps after the warm-up (rank/wire.h).
  records::WireBytes wire(int steps) const;

  const cases::Case& configuration() const { return configuration_; }
  const plan::PlanInput& input() const { return input_; }
  const plan::Setup& setup() const { return memory_->setup(); }
  const plan::Planner& planner() const { return *planner_; }
  runtime::Executor& executor() { return *executor_; }
  const plan::CommPlan& plan_of(plan::Step step) const { return executor_->plan_of(step); }
  /// The network of a rank that trains; must not be called in a replay, which has no network.
  networks::Network& network() { return *network_; }
  const networks::Network& network() const { return *network_; }
  const runtime::FlatMemory& memory() const { return *memory_; }
  const runtime::Reducer* reducer() const { return reducer_.get(); }
  /// Returns the phases that were recorded, if `record_spans` is set, since the last call.
  std::vector<PhaseSpan> take_phases() { return std::exchange(phases_, {}); }
  /// Returns the transfers of c10d::Reducer since the last call; they have no op in the plan.
  std::vector<engines::CollectiveSpan> take_transfers();
  /// Returns the mean loss over the batch of the last step; nothing on a server and in a replay.
  std::optional<double> last_loss() const;

  /// Evaluates the network on the test samples.  The rank must train on a data set, and no
  /// operation may be in flight.
  records::Evaluation evaluate() { return evaluator_->of(*network_); }

  /// Returns the embedding lookups since the last call; nothing if the network has no embedding
  /// tables or the rank does not train.
  std::optional<records::LookupCounts> take_lookups() {
    const auto lookups = this->lookups();
    lookups_ = {};
    return lookups;
  }
  /// Returns what take_lookups() would return, and does not reset the counts.
  std::optional<records::LookupCounts> lookups() const {
    return embeddings_ && trains() ? std::optional(lookups_) : std::nullopt;
  }

  /// Copies the parameters' present values into the strategy's buffers that start as the
  /// parameters.  No operation may be in flight.
  void restart_from_parameters() { memory_->start_from_parameters(); }

  /// Returns a number that is equal on two ranks if their parameters are bit-equal.
  std::int64_t parameter_digest() const;

  /// Returns the FLOPs of one sample's forward pass, as runtime::FlopCounter counts them; 0 in a
  /// replay.
  double sample_flops() const { return traced_.flops; }

 private:
  at::ScalarType dtype() const;
  void make_network();
  std::shared_ptr<networks::Network> new_network() const;
  void read_data();
  void set_batches(const networks::Batch& whole);
  void make_replay();
  void make_plan();
  void make_memory(const plan::Setup& setup);
  void allocate(const plan::Setup& setup);
  networks::Batch bag_batch(plan::Step step) const;
  // Returns whether all trainers hold the parameter.  The bags of one trainer are not shared.
  bool is_shared(std::size_t parameter) const;
  void measure_times();
  plan::AlphaBeta measure_collectives(engines::Channel& channel);
  plan::Members training() const;
  std::unique_ptr<engines::Channel> connect_to(const plan::Communicator& group);
  std::unique_ptr<engines::Channel> connect_to(const plan::Communicator& group,
                                               engines::Engine& engine, at::Device device);
  std::unique_ptr<engines::Channel> connect_for_picks(const plan::Communicator& group);
  // Returns the scheduling of the threads that issue operations and wait for them.
  Scheduling communication_scheduling() const {
    return scheduling_of(largest_operation_, Scheduling::kShortSlice);
  }
  void wait_before_connecting() const;
  void connect();
  void make_reducer();
  void make_executor(runtime::Channels by_id);
  void start_from_rank_zero();
  ReplayCallbacks replay_events();
  void set_learning_rate(plan::Step step);
  void forward(std::size_t micro);
  at::Tensor loss_of(const networks::Batch& batch);
  void backward();

  cases::Case configuration_;
  RankGroup ranks_;
  TrainerOptions options_;
  networks::Precision precision_;
  std::shared_ptr<networks::Network> network_;  // null in a replay
  std::unique_ptr<Replay> replay_;              // null if a network computes
  std::unique_ptr<MappedData> mapped_;          // null: no memory-mapped file of images is read
  std::unique_ptr<TrainingData> data_;          // null: training on one synthetic batch
  std::unique_ptr<Evaluator> evaluator_;        // null if the case names no data set
  std::vector<networks::Batch> batches_;        // one per micro-batch; empty without a network
  std::optional<strategies::EmbeddingJob> embeddings_;  // these draw a new batch in each step
  runtime::TracedNetwork traced_;
  strategies::StrategySpec strategy_;
  std::shared_ptr<const plan::Planner> planner_;
  plan::PlanInput input_;
  std::unique_ptr<engines::Engine> pick_engine_;  // null on the CPU
  // Bytes of the largest operation of the channels that connect_to() makes: of the measurement of
  // times, and then of the plan.
  std::int64_t largest_operation_ = 0;
  std::vector<std::unique_ptr<engines::Channel>> channels_;
  std::vector<std::unique_ptr<engines::Channel>> pick_channels_;
  std::unique_ptr<runtime::FlatMemory> memory_;
  std::unique_ptr<runtime::Reducer> reducer_;
  std::unique_ptr<runtime::Executor> executor_;
  runtime::DeviceClock clock_{ranks_.device};
  at::Tensor loss_;       // loss of the current micro-batch
  at::Tensor last_loss_;  // loss of the last step: sum over micro-batches, detached from the graph
  std::vector<PhaseSpan> phases_;
  records::LookupCounts lookups_;
};

}  // namespace paceline::rank
