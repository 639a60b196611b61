// SPDX-License-Identifier: Apache-2.0
// Every row of the strategy table in the runtime, on an engine, in real
// processes:
//
//   strategy_conformance_test launch ENGINE RANKS DEVICE
//
// Each rank performs its plan on the device, and interprets those of all ranks
// beside it.  The interpreter computes on the device too: sums of another order
// round otherwise.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/cuda.h>
#include <torch/types.h>

#include "engines/engine_conformance.h"
#include "paceline/plan/access.h"
#include "paceline/plan/plan_world.h"
#include "paceline/runtime/executor.h"
#include "plan/toy_model.h"
#include "runtime/tensor_machine.h"
#include "strategies/strategy_texts.h"

namespace paceline::testing {
namespace {

constexpr plan::Step kSteps = 3;

/// Streams that wait for no event, and events that are done at once.
class StreamsWithoutEvents final : public execution::Device {
 public:
  explicit StreamsWithoutEvents(at::Device device)
      : streams_(runtime::make_device(device)) {}

  void enter_thread() override { streams_->enter_thread(); }
  Stream add_stream() override { return streams_->add_stream(); }
  void wait(Stream, const execution::Event&) override {}
  void on(Stream stream, const std::function<void()>& put) override {
    streams_->on(stream, put);
  }
  execution::EventPtr record(Stream) override {
    return std::make_shared<const Done>();
  }

 private:
  struct Done final : execution::Event {
    bool is_done() const override { return true; }
  };
  std::unique_ptr<execution::Device> streams_;
};

/// One rank of a plan's job, which computes whole numbers instead of a network.
class Performance {
 public:
  using StreamsOf =
      std::function<std::unique_ptr<execution::Device>(at::Device)>;

  Performance(const std::string& name,
              const plan::Planner& planner,
              const plan::PlanInput& input,
              const plan::Setup& setup,
              const StreamsOf& streams_of = runtime::make_device)
      : input_(input),
        numbers_(input.world, /*salted=*/-1, device()),
        trains_(input.rank < planner.training_ranks(input)),
        engine_(engines::make_engine(engine())) {
    traced_.shape = input.model;
    traced_.gated.resize(trains_ ? input.model.modules.size() : 0);
    if (trains_) {
      traced_.parameters = numbers_.start(input.model);
    }
    memory_ = start_memory(setup, traced_.parameters, device());
    executor_ = std::make_unique<runtime::Executor>(
        runtime::Executor::Parts{.planner = planner,
                                 .input = input_,
                                 .traced = traced_,
                                 .memory = *memory_,
                                 .channels = connect_all(name, setup),
                                 .rule = dyadic_rule(),
                                 .device = device(),
                                 .engine = engines::find_engine(engine())},
        runtime::Executor::Options{
            .dispatcher = {.timeout = std::chrono::seconds(20)},
            .streams_of = streams_of});
  }

  void run() {
    for (plan::Step step = 0; step < kSteps; ++step) {
      if (trains_) {
        train(step);
      } else {
        executor_->serve_step();
      }
    }
    executor_->drain();
  }

  const runtime::FlatMemory& memory() const { return *memory_; }

 private:
  void train(plan::Step step) {
    executor_->begin_step();
    executor_->begin_forward(0);
    for (std::size_t m = 0; m < input_.model.modules.size(); ++m) {
      executor_->enter(static_cast<plan::ModuleId>(m));
      executor_->leave(static_cast<plan::ModuleId>(m));
    }
    executor_->begin_backward();
    for (const plan::ParameterId p : input_.model.ready_order) {
      const auto module = input_.model.parameters[plan::index_of(p)].module;
      if (executor_->gates_backward(module)) {
        executor_->enter_backward(module);
      }
      if (!device().is_cpu()) {
        delay_stream();
      }
      const at::Tensor& parameter = memory_->parameter(p);
      parameter.mutable_grad() =
          numbers_.gradient(input_.rank, step, p, parameter);
      executor_->gradient_ready(p);
    }
    executor_->end_backward();
  }

  // Gradients come long after the host has said so: whatever waits for the host
  // alone, and not for the stream, reads what was there before.
  void delay_stream() {
    const at::NoGradGuard no_grad;
    at::Tensor some = at::ones({2048, 2048}, device());
    for (auto i = random_() % 8; i > 0; --i) {
      some = at::mm(some, some);
    }
  }

  runtime::Channels connect_all(const std::string& name,
                                const plan::Setup& setup) {
    runtime::Channels by_id;
    for (const plan::Communicator& group : setup.communicators) {
      const bool picks = group.order == plan::IssueOrder::kPriority;
      by_id.data.push_back(connect_to(name + "/" + group.name, group));
      by_id.picks.push_back(
          picks ? connect_to(name + "/" + group.name + "/picks", group)
                : nullptr);
    }
    return by_id;
  }

  /// Null where this rank is no member.
  engines::Channel* connect_to(const std::string& name,
                               const plan::Communicator& group) {
    const auto me = group.members.place_of(input_.rank);
    if (!me) {
      return nullptr;
    }
    auto spec = spec_of(name);
    spec.members = group.members;
    spec.rank = static_cast<int>(*me);
    spec.world = static_cast<int>(group.members.size());
    channels_.push_back(engine_->connect(spec));
    return channels_.back().get();
  }

  plan::PlanInput input_;
  std::minstd_rand random_{static_cast<unsigned>(context().world.self.rank) +
                           1};
  WholeNumbers numbers_;
  bool trains_;
  std::unique_ptr<engines::Engine> engine_;
  std::vector<std::unique_ptr<engines::Channel>> channels_;
  runtime::TracedNetwork traced_;
  std::unique_ptr<runtime::FlatMemory> memory_;
  std::unique_ptr<runtime::Executor> executor_;
};

/// The buffers of this rank that differ from the interpreter's.
std::vector<std::string> differences(const plan::Planner& planner,
                                     const plan::PlanWorld& plans,
                                     const TensorMachine& meaning,
                                     const Performance& performance) {
  const plan::Rank rank = context().world.self.rank;
  const plan::Setup& setup = plans.setup(rank);
  const auto gradients = runtime::gradient_buffers(setup);
  const auto touched = plan::touched_ranges(planner, plans.input(rank), setup);
  std::vector<std::string> names;
  for (std::size_t b = 0; b < touched.size(); ++b) {
    const auto id = static_cast<plan::BufferId>(b);
    if (gradients.contains(id) && !meaning.flat(rank).contains(id)) {
      continue;  // autograd keeps them
    }
    for (const plan::Slice& range : touched[b]) {
      const at::Tensor is = performance.memory().view(range);
      const at::Tensor should_be = meaning.view(rank, range);
      if (meaning.exact() ? !is.equal(should_be)
                          : !at::allclose(is, should_be, 1e-4, 1e-4)) {
        names.push_back(setup.buffers[b].name);
      }
    }
  }
  return names;
}

/// Null where the strategy does not exist in this world.  On a GPU strategies
/// whose plans have slack do not exist.
std::unique_ptr<plan::PlanWorld> plans_of(const plan::Planner& planner) {
  const auto& self = context().world.self;
  try {
    auto plans = std::make_unique<plan::PlanWorld>(
        planner, plan::input_of(plan::tiny_model(), self.world), kSteps);
    const plan::Setup& setup = plans->setup(self.rank);
    const plan::PlanInput& input = plans->input(self.rank);
    const bool has_slack = std::ranges::any_of(
        plan::variants_of(planner, input), [&](plan::Variant variant) {
          return plan::has_slack(planner.plan(input, setup, variant));
        });
    return !device().is_cpu() && has_slack ? nullptr : std::move(plans);
  } catch (const UsageError&) {
    return nullptr;
  }
}

/// Null where the runtime refuses the plan, as it does for plans of several
/// orders over NCCL.
std::unique_ptr<Performance> performance_of(const std::string& name,
                                            const plan::Planner& planner,
                                            const plan::PlanWorld& plans) {
  const plan::Rank rank = context().world.self.rank;
  try {
    return std::make_unique<Performance>(
        name, planner, plans.input(rank), plans.setup(rank));
  } catch (const UsageError& refusal) {
    EXPECT_EQ(engine(), "nccl") << refusal.what();
    return nullptr;
  }
}

TEST(EveryStrategy, EndsWithTheInterpretersValues) {
  const auto& self = context().world.self;
  int performed = 0;
  for (const std::string& text : strategies::performed_strategies()) {
    SCOPED_TRACE(text);
    const auto planner =
        strategies::make_planner(strategies::parse_strategy(text));
    const auto plans = plans_of(*planner);
    if (plans == nullptr) {
      continue;
    }
    TensorMachine meaning(
        *planner, *plans, WholeNumbers(self.world, -1, device()));
    plan::interpret(*plans, meaning);
    // The factors of PowerSGD are no whole numbers: their sums are rounded.  On
    // a GPU the sums of thirds are rounded too.
    EXPECT_TRUE(meaning.exact() || text.find("powersgd") != std::string::npos ||
                (!device().is_cpu() && self.world % 3 == 0));
    const auto performance = performance_of(text, *planner, *plans);
    if (performance == nullptr) {
      continue;
    }
    performance->run();
    EXPECT_EQ(differences(*planner, *plans, meaning, *performance),
              std::vector<std::string>());
    ++performed;
  }
  EXPECT_GT(performed, engine() == "nccl" && self.world > 1 ? 100 : 180);
  std::printf("%d strategies on %s, %d ranks\n",
              performed,
              engine().c_str(),
              self.world);
}

// What a peer computes must be seen here: with other gradients of its own the
// interpreter ends with other values.
TEST(EveryStrategy, OtherGradientsOfAPeerAreSeen) {
  const auto& self = context().world.self;
  for (const char* text :
       {"bsp", "fusion+ps", "fusion+neighbor-allreduce:topology=ring+atc"}) {
    SCOPED_TRACE(text);
    const auto planner =
        strategies::make_planner(strategies::parse_strategy(text));
    const auto plans = plans_of(*planner);
    TensorMachine other(
        *planner,
        *plans,
        WholeNumbers(self.world, (self.rank + 1) % self.world, device()));
    plan::interpret(*plans, other);
    Performance performance(std::string(text) + "/other",
                            *planner,
                            plans->input(self.rank),
                            plans->setup(self.rank));
    performance.run();
    EXPECT_NE(differences(*planner, *plans, other, performance),
              std::vector<std::string>());
  }
}

// Gradients come late enough for the test to see a missing event: without all
// of them every strategy ends with other values.
TEST(EveryStrategy, WithoutEventsOfTheDeviceIsWrong) {
  if (device().is_cpu()) {
    GTEST_SKIP() << "the CPU has no events";
  }
  const auto& self = context().world.self;
  for (const char* text :
       {"bsp", "wfbp", "fusion", "dear+rs-ag", "wfbp+rs-ag+zero-1"}) {
    SCOPED_TRACE(text);
    const auto planner =
        strategies::make_planner(strategies::parse_strategy(text));
    const auto plans = plans_of(*planner);
    ASSERT_NE(plans, nullptr);
    TensorMachine meaning(
        *planner, *plans, WholeNumbers(self.world, -1, device()));
    plan::interpret(*plans, meaning);
    Performance performance(std::string(text) + "/without events",
                            *planner,
                            plans->input(self.rank),
                            plans->setup(self.rank),
                            std::make_unique<StreamsWithoutEvents, at::Device>);
    performance.run();
    torch::cuda::synchronize();
    EXPECT_NE(differences(*planner, *plans, meaning, performance),
              std::vector<std::string>());
  }
}

}  // namespace
}  // namespace paceline::testing

int main(int argc, char** argv) {
  return paceline::testing::conformance_main(argc, argv);
}
