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

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "paceline/base/scheduling.h"
#include "paceline/engines/engine.h"
#include "paceline/engines/peer_wait.h"
#include "paceline/networks/bags.h"
#include "paceline/networks/network.h"
#include "paceline/networks/precision.h"
#include "paceline/rank/mapped_data.h"
#include "paceline/rank/replay.h"
#include "paceline/rank/training_data.h"
#include "paceline/rank/window.h"
#include "paceline/records/configuration.h"
#include "paceline/records/run_record.h"
#include "paceline/runtime/device_clock.h"
#include "paceline/runtime/executor.h"
#include "paceline/runtime/memory.h"
#include "paceline/runtime/reducer.h"
#include "paceline/runtime/shape.h"
#include "paceline/strategies/embedding_job.h"
#include "paceline/strategies/strategy.h"

namespace paceline::rank {

/// The ranks that train together, and how they are connected.
struct RankGroup {
  std::string name;  // unique within the job; prefixes the store's keys
  c10::intrusive_ptr<c10d::Store> store;
  engines::Engine* engine = nullptr;
  int rank = 0;
  int world = 1;
  at::Device device{at::kCPU};
  std::string interface;      // network interface; empty: the engine's choice
  engines::PeerWait peers{};  // outside of steps
  /// Called by every rank of the group before it connects, as often by each; returns when all have
  /// called it.  May be empty.
  std::function<void()> before_connecting{};
};

struct TrainerOptions {
  /// A replay stretches the time limits; `spare_core` is the trainer's to set.
  execution::Dispatcher::Options dispatcher{};
  bool integers = false;  // integer weights, batches and summed loss
  /// The loss scale to start with; null: 65536 where the precision needs one (amp on cuda), else
  /// the loss is not scaled.
  std::optional<double> loss_scale{};
  /// Makes the network; null: the configuration's model.
  std::function<std::shared_ptr<networks::Network>()> network{};
  /// The batch of every step, of a network that is trained as `network` made it; null: the
  /// configuration's.
  std::optional<networks::Batch> batch{};
  /// The settings of the optimizer; empty: the configuration's.
  std::function<runtime::OptimizerSettings(const plan::ModelShape&, const plan::Setup&)> rule{};
  /// Type of parameters and inputs; null: that of the precision.
  std::optional<at::ScalarType> dtype{};
  /// The planner, whose plan is not verified; null: the configuration's strategy.
  std::shared_ptr<const plan::Planner> planner{};
  /// The times for a strategy that needs them; absent: measured by the trainer, briefly.
  std::optional<plan::LayerProfile> profile{};
  std::optional<plan::AlphaBeta> alpha_beta{};
};

/// One rank's training job: network, data, plan and executor.  In a replay a profile takes the
/// place of the network, and nothing is trained.
class Trainer final : public TimedJob {
 public:
  /// Collective over the group.  All ranks start from rank 0's parameters. Throws UsageError for a
  /// case that cannot run, WorldError for a lost rank.
  Trainer(records::Configuration configuration, RankGroup group, TrainerOptions options = {});
  ~Trainer() override;

  /// Whether this rank has model work.  A rank that has none serves: it holds no network, and only
  /// what its plan touches of the buffers.
  bool trains() const;
  /// "server 0" of a rank that serves, as Configuration::role_of says it beside embedding tables;
  /// else empty.
  std::string role() const;

  StepTimes step() override;
  /// Opens the next step of a rank that trains.  For who drives the network and the executor's
  /// other functions itself, in place of step().
  void begin_step();
  void drain() override;

  void mark() override { clock_.mark(); }
  std::vector<std::int64_t> take_marks() override { return clock_.take(); }

  /// Bytes that entered the engine so far, over all communicators.
  engines::Ledger ledger() const;
  /// Those of them that belong to the measured steps.
  engines::Ledger counted() const;
  /// What the `steps` steps after the warm-up have sent (rank/wire.h).
  records::WireBytes wire(int steps) const;

  const records::Configuration& configuration() const { return configuration_; }
  const plan::PlanInput& input() const { return input_; }
  const plan::Setup& setup() const { return memory_->setup(); }
  const plan::Planner& planner() const { return *planner_; }
  runtime::Executor& executor() { return *executor_; }
  const plan::CommPlan& plan_of(plan::Step step) const { return executor_->plan_of(step); }
  /// The network of a rank that trains; there is none in a replay.
  networks::Network& network() { return *network_; }
  const networks::Network& network() const { return *network_; }
  const runtime::FlatMemory& memory() const { return *memory_; }
  const runtime::Reducer* reducer() const { return reducer_.get(); }
  /// The phases recorded with `record_spans` since the last call.
  std::vector<PhaseSpan> take_phases() { return std::exchange(phases_, {}); }
  /// The transfers of c10d::Reducer since the last call, which have no op in the plan.
  std::vector<engines::CollectiveSpan> take_transfers();
  /// The mean over the batch of the last step; of a rank that trains, and not in a replay.
  std::optional<double> last_loss() const;

  /// Evaluates the network on the test samples.  The rank must train on data and have nothing in
  /// flight.
  records::Evaluation evaluate() { return evaluator_->of(*network_); }

  /// What was looked up since the last call; nothing where the network has no tables or the rank
  /// does not train.
  std::optional<records::Lookups> take_lookups() {
    const auto lookups = this->lookups();
    lookups_ = {};
    return lookups;
  }
  /// What take_lookups() would return.  The next call counts the lookups again.
  std::optional<records::Lookups> lookups() const {
    return embeddings_ && trains() ? std::optional(lookups_) : std::nullopt;
  }

  /// Lets what the strategy keeps beside the parameters begin with their values now.  Nothing may
  /// be in flight.
  void restart_from_parameters() { memory_->start_from_parameters(); }

  /// A number that is equal on two ranks if their parameters are bit-equal.
  std::int64_t parameter_digest() const;

  /// Floating-point operations of the products in one sample's forward pass; 0: no network.
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
  // Whether all trainers hold the parameter, as against its own bags.
  bool is_shared(std::size_t parameter) const;
  void measure_times();
  plan::AlphaBeta measure_collectives(engines::Channel& channel);
  plan::Members training() const;
  std::unique_ptr<engines::Channel> connect_to(const plan::Communicator& group);
  std::unique_ptr<engines::Channel> connect_to(const plan::Communicator& group,
                                               engines::Engine& engine, at::Device device);
  std::unique_ptr<engines::Channel> connect_for_picks(const plan::Communicator& group);
  void wait_before_connecting() const;
  void connect();
  void make_reducer();
  void make_executor(runtime::Channels by_id);
  void start_from_rank_zero();
  ReplayEvents replay_events();
  void set_learning_rate(plan::Step step);
  void forward(std::size_t micro);
  at::Tensor loss_of(const networks::Batch& batch);
  void backward();

  records::Configuration configuration_;
  RankGroup ranks_;
  TrainerOptions options_;
  networks::Precision precision_;
  std::shared_ptr<networks::Network> network_;          // null in a replay
  std::unique_ptr<Replay> replay_;                      // null where a network computes
  std::unique_ptr<MappedData> mapped_;                  // null: no mapped file
  std::unique_ptr<TrainingData> data_;                  // null: one synthetic batch
  std::unique_ptr<Evaluator> evaluator_;                // null without data
  std::vector<networks::Batch> batches_;                // by micro-batch; of a network
  std::optional<strategies::EmbeddingJob> embeddings_;  // a batch each step
  runtime::TracedNetwork traced_;
  strategies::StrategySpec strategy_;
  std::shared_ptr<const plan::Planner> planner_;
  plan::PlanInput input_;
  std::unique_ptr<engines::Engine> pick_engine_;  // null on the CPU
  std::int64_t largest_operation_ = 0;            // of the plan, bytes
  std::vector<std::unique_ptr<engines::Channel>> channels_;
  std::vector<std::unique_ptr<engines::Channel>> pick_channels_;
  std::unique_ptr<runtime::FlatMemory> memory_;
  std::unique_ptr<runtime::Reducer> reducer_;
  std::unique_ptr<runtime::Executor> executor_;
  runtime::DeviceClock clock_{ranks_.device};
  at::Tensor loss_;       // of the micro-batch in progress
  at::Tensor last_loss_;  // its sum over micro-batches, without the graph
  std::vector<PhaseSpan> phases_;
  records::Lookups lookups_;
};

}  // namespace paceline::rank
