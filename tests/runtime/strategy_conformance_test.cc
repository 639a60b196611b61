// SPDX-License-Identifier: Apache-2.0
// Every row of the strategy table in the runtime, on an engine, in real processes:
//
//   strategy_conformance_test launch ENGINE RANKS DEVICE
//
// Each rank performs its plan on the device, and interprets those of all ranks beside it.  The
// interpreter computes on the device too: sums of another order round otherwise.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>
#include <torch/types.h>

#include "engines/engine_conformance.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/plan/access.h"
#include "paceline/plan/plan_world.h"
#include "paceline/strategies/ddp.h"
#include "plan/interpret_as_run.h"
#include "plan/toy_model.h"
#include "runtime/performance.h"
#include "runtime/tensor_machine.h"
#include "strategies/strategy_texts.h"

namespace paceline::testing {
namespace {

constexpr plan::Step kSteps = 3;

/// Streams that wait for no event, and events that are done at once.
class StreamsWithoutEvents final : public execution::Device {
 public:
  explicit StreamsWithoutEvents(at::Device device) : streams_(runtime::make_device(device)) {}

  void enter_thread() override { streams_->enter_thread(); }
  Stream add_stream() override { return streams_->add_stream(); }
  void wait(Stream, const execution::Event&) override {}
  void on(Stream stream, const std::function<void()>& put) override { streams_->on(stream, put); }
  execution::EventPtr record(Stream) override { return std::make_shared<const Done>(); }

 private:
  struct Done final : execution::Event {
    bool is_done() const override { return true; }
  };
  std::unique_ptr<execution::Device> streams_;
};

/// The buffers of this rank that differ from the interpreter's.
std::vector<std::string> differences(const plan::Planner& planner, const plan::PlanWorld& plans,
                                     const TensorMachine& meaning, const Performance& performance) {
  const plan::Rank rank = context().world.self.rank;
  const plan::Setup& setup = performance.memory().setup();
  const auto belongs_to_performer = [](const plan::Buffer& buffer) {
    return !buffer.performer.empty();
  };
  const bool performed = std::ranges::any_of(setup.buffers, belongs_to_performer);
  const auto gradients = runtime::gradient_buffers(setup);
  const auto touched = plan::touched_ranges(planner, plans.input(rank), plans.setup(rank));
  std::vector<std::string> names;
  for (std::size_t b = 0; b < touched.size(); ++b) {
    const auto id = static_cast<plan::BufferId>(b);
    const bool autograd_keeps =
        gradients.contains(id) && (performed || !meaning.flat(rank).contains(id));
    if (autograd_keeps || belongs_to_performer(setup.buffers[b])) {
      continue;
    }
    for (const plan::Slice& range : touched[b]) {
      const at::Tensor is = performance.memory().view(range);
      const at::Tensor should_be = meaning.view(rank, range);
      if (meaning.exact() ? !is.equal(should_be) : !at::allclose(is, should_be, 1e-4, 1e-4)) {
        names.push_back(setup.buffers[b].name);
      }
    }
  }
  return names;
}

/// Null where the strategy does not exist in this world.  On a GPU strategies whose plans have
/// slack do not exist.
std::unique_ptr<plan::PlanWorld> plans_of(const plan::Planner& planner, plan::Step steps = kSteps) {
  const auto& self = context().world.self;
  try {
    auto plans = std::make_unique<plan::PlanWorld>(
        planner, plan::input_of(plan::tiny_model(), self.world), steps);
    const plan::Setup& setup = plans->setup(self.rank);
    const plan::PlanInput& input = plans->input(self.rank);
    const bool has_slack =
        std::ranges::any_of(plan::variants_of(planner, input), [&](plan::Variant variant) {
          return plan::has_slack(planner.plan(input, setup, variant));
        });
    return !device().is_cpu() && has_slack ? nullptr : std::move(plans);
  } catch (const UsageError&) {
    return nullptr;
  }
}

/// Null where the runtime rejects the plan, as it does for plans of several orders over NCCL.
std::unique_ptr<Performance> performance_of(const std::string& name, const plan::Planner& planner,
                                            const plan::PlanWorld& plans) {
  const plan::Rank rank = context().world.self.rank;
  try {
    return std::make_unique<Performance>(name, planner, plans.input(rank), plans.setup(rank));
  } catch (const UsageError& rejection) {
    EXPECT_EQ(engine(), "nccl") << rejection.what();
    return nullptr;
  }
}

TEST(EveryStrategy, EndsWithTheInterpretersValues) {
  const auto& self = context().world.self;
  int performed = 0;
  for (const std::string& text : strategies::performed_strategies()) {
    SCOPED_TRACE(text);
    const auto planner = strategies::make_planner(strategies::parse_strategy(text));
    const auto plans = plans_of(*planner);
    if (plans == nullptr) {
      continue;
    }
    TensorMachine meaning(*planner, *plans, WholeNumbers(self.world, -1, device()));
    plan::interpret(*plans, meaning);
    // The factors of PowerSGD are no whole numbers: their sums are rounded.  On a GPU the sums of
    // thirds are rounded too.
    EXPECT_TRUE(meaning.exact() || text.find("powersgd") != std::string::npos ||
                (!device().is_cpu() && self.world % 3 == 0));
    const auto performance = performance_of(text, *planner, *plans);
    if (performance == nullptr) {
      continue;
    }
    performance->run(kSteps);
    EXPECT_EQ(differences(*planner, *plans, meaning, *performance), std::vector<std::string>());
    ++performed;
  }
  EXPECT_GT(performed, engine() == "nccl" && self.world > 1 ? 100 : 180);
  std::printf("%d strategies on %s, %d ranks\n", performed, engine().c_str(), self.world);
}

// What a peer computes must be seen here: with other gradients of its own the interpreter ends with
// other values.
TEST(EveryStrategy, OtherGradientsOfAPeerAreSeen) {
  const auto& self = context().world.self;
  for (const char* text : {"bsp", "fusion+ps", "fusion+neighbor-allreduce:topology=ring+atc"}) {
    SCOPED_TRACE(text);
    const auto planner = strategies::make_planner(strategies::parse_strategy(text));
    const auto plans = plans_of(*planner);
    TensorMachine other(*planner, *plans,
                        WholeNumbers(self.world, (self.rank + 1) % self.world, device()));
    plan::interpret(*plans, other);
    Performance performance(std::string(text) + "/other", *planner, plans->input(self.rank),
                            plans->setup(self.rank));
    performance.run(kSteps);
    EXPECT_NE(differences(*planner, *plans, other, performance), std::vector<std::string>());
  }
}

// Gradients come late enough for the test to see a missing event: without all of them every
// strategy ends with other values.
TEST(EveryStrategy, WithoutEventsOfTheDeviceIsWrong) {
  if (device().is_cpu()) {
    GTEST_SKIP() << "the CPU has no events";
  }
  const auto& self = context().world.self;
  for (const char* text : {"bsp", "wfbp", "fusion", "dear+rs-ag", "wfbp+rs-ag+zero-1"}) {
    SCOPED_TRACE(text);
    const auto planner = strategies::make_planner(strategies::parse_strategy(text));
    const auto plans = plans_of(*planner);
    ASSERT_NE(plans, nullptr);
    TensorMachine meaning(*planner, *plans, WholeNumbers(self.world, -1, device()));
    plan::interpret(*plans, meaning);
    Performance performance(std::string(text) + "/without events", *planner,
                            plans->input(self.rank), plans->setup(self.rank),
                            {.streams_of = std::make_unique<StreamsWithoutEvents, at::Device>});
    performance.run(kSteps);
    torch::cuda::synchronize();
    EXPECT_NE(differences(*planner, *plans, meaning, performance), std::vector<std::string>());
  }
}

/// A strategy's plan where the executor performs all ops itself.
class WithoutPerformer final : public plan::Planner {
 public:
  explicit WithoutPerformer(const plan::Planner& planner) : planner_(planner) {}

  plan::Setup setup(const plan::PlanInput& input) const override {
    plan::Setup setup = planner_.setup(input);
    for (plan::Buffer& buffer : setup.buffers) {
      buffer.performer = {};
    }
    return setup;
  }
  plan::Variant variant(const plan::PlanInput& input, plan::Step step) const override {
    return planner_.variant(input, step);
  }
  plan::CommPlan plan(const plan::PlanInput& input, const plan::Setup& setup,
                      plan::Variant variant) const override {
    plan::CommPlan plan = planner_.plan(input, setup, variant);
    for (plan::Op& op : plan.ops) {
      op.performer = {};
      auto* kernel = std::get_if<plan::Kernel>(&op.work);
      if (kernel != nullptr && kernel->name == "view") {
        kernel->name = "copy";  // the same, where memory is the rank's own
      }
    }
    return plan;
  }

 private:
  const plan::Planner& planner_;
};

// The Reducer multiplies by 1/P before it sums.  The product is exact: P is a power of two, or 3
// and the gradients are multiples of 27.
TEST(Ddp, EndsWithTheInterpretersValues) {
  if (!device().is_cpu()) {
    GTEST_SKIP() << "compared on the CPU alone";
  }
  const auto& self = context().world.self;
  for (const char* text : {"ddp", "ddp:bucket-mb=0.00005", "ddp:bucket-mb=0.00005,views=yes",
                           "ddp:bucket-mb=0.00005,views=yes,static=yes"}) {
    SCOPED_TRACE(text);
    const auto spec = strategies::parse_strategy(text);
    const auto planner = strategies::make_planner(spec);
    const WithoutPerformer whole(*planner);
    const auto plans = plans_of(whole);
    ASSERT_NE(plans, nullptr);
    const plan::PlanInput& input = plans->input(self.rank);
    Performance performance(text, *planner, input, planner->setup(input),
                            {.reducer = strategies::reducer_options(spec.whole.options)});
    performance.run(kSteps);
    TensorMachine meaning(whole, *plans, WholeNumbers(self.world));
    plan::interpret(*plans, meaning);
    EXPECT_TRUE(meaning.exact());
    EXPECT_EQ(differences(whole, *plans, meaning, performance), std::vector<std::string>());
    TensorMachine other(whole, *plans, WholeNumbers(self.world, (self.rank + 1) % self.world));
    plan::interpret(*plans, other);
    EXPECT_NE(differences(whole, *plans, other, performance), std::vector<std::string>())
        << "other gradients of a peer were not seen";
  }
}

/// The kernels of every rank, each in the order in which they ran.
std::vector<plan::KernelOrder> kernels_of_all(const std::string& name, Performance& performance) {
  launch::KeyValueStore& store = *context().world.store;
  const auto key = [&](int rank) { return fmt::format("kernels/{}/{}", name, rank); };
  std::string mine;
  for (const plan::Edge& ref : performance.take_kernels()) {
    mine += fmt::format("{} {} ", ref.step, ref.op);
  }
  store.set(key(context().world.self.rank), mine);
  std::vector<plan::KernelOrder> all;
  for (int rank = 0; rank < context().world.self.world; ++rank) {
    const auto theirs = launch::wait_for(store, key(rank), std::chrono::seconds(20));
    if (!theirs) {
      throw std::runtime_error("a rank has not told its kernels");
    }
    std::istringstream words(*theirs);
    all.emplace_back();
    for (plan::Edge ref; words >> ref.step >> ref.op;) {
      all.back().push_back(ref);
    }
  }
  return all;
}

/// A strategy that mixes what has arrived, run on this rank.
struct LateRun {
  LateRun(const std::string& text, const std::string& name)
      : planner(strategies::make_planner(strategies::parse_strategy(text))),
        plans(plans_of(*planner, 2 * kSteps)) {
    const plan::Rank rank = context().world.self.rank;
    if (plans != nullptr) {
      performance =
          std::make_unique<Performance>(name, *planner, plans->input(rank), plans->setup(rank));
      performance->run(kSteps);  // waits: the later steps mix what these sent
      performance->run(kSteps);
      kernels = kernels_of_all(name, *performance);
    }
  }

  /// What the run differs in from ranks whose kernels ran in this order.
  std::vector<std::string> differences_from(const std::vector<plan::KernelOrder>& ran,
                                            plan::Rank salted = -1) const {
    TensorMachine meaning(*planner, *plans, WholeNumbers(plans->ranks(), salted));
    EXPECT_TRUE(plan::InterpreterOfRun(*plans, ran, meaning).run());
    return differences(*planner, *plans, meaning, *performance);
  }

  /// One of this rank's.
  const plan::Kernel& kernel(const plan::Edge& ref) const {
    const auto& items = plans->items(context().world.self.rank);
    const auto found = std::ranges::find_if(items, [&](const plan::PlanWorld::Item& item) {
      return plan::Edge{item.step, item.index} == ref;
    });
    return std::get<plan::Kernel>(found->op->work);
  }

  std::unique_ptr<plan::Planner> planner;
  std::unique_ptr<plan::PlanWorld> plans;  // null where there are none
  std::unique_ptr<Performance> performance;
  std::vector<plan::KernelOrder> kernels;  // by rank
};

// What a rank mixes depends on which of its kernels ran first, and on nothing else.
TEST(LateStrategies, EndWithTheInterpretersValuesInTheOrderOfTheRun) {
  int performed = 0;
  for (const std::string& text : strategies::late_strategies()) {
    SCOPED_TRACE(text);
    const LateRun run(text, text);
    if (run.plans != nullptr) {
      EXPECT_EQ(run.differences_from(run.kernels), std::vector<std::string>());
      ++performed;
    }
  }
  EXPECT_EQ(performed > 0, device().is_cpu());
}

TEST(LateStrategies, AnotherOrderAndOtherGradientsOfAPeerAreSeen) {
  if (!device().is_cpu()) {
    GTEST_SKIP() << "plans with slack do not exist on a GPU";
  }
  const auto& self = context().world.self;
  const LateRun run("fusion:bucket-mb=0.00005+win-put:topology=full", "seen");
  ASSERT_NE(run.plans, nullptr);
  EXPECT_NE(run.differences_from(run.kernels, (self.rank + 1) % self.world),
            std::vector<std::string>());
  // As if nothing had arrived before this rank's last average.
  auto other = run.kernels;
  plan::KernelOrder& own = other[static_cast<std::size_t>(self.rank)];
  std::stable_partition(own.begin(), own.end(),
                        [&](const plan::Edge& ref) { return run.kernel(ref).name == "linear"; });
  EXPECT_NE(run.differences_from(other), std::vector<std::string>());
}

}  // namespace
}  // namespace paceline::testing

int main(int argc, char** argv) { return paceline::testing::conformance_main(argc, argv); }
