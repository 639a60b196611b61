// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/verify.h"

#include <vector>

#include "paceline/plan/interpreter.h"

namespace paceline::plan {
namespace {

/// Moves nothing: the interpreter is run for its order alone.
class NullMachine final : public Machine {
 public:
  void forward(Rank, Step, const Forward&) override {}
  void backward(Rank, Step, const Backward&) override {}
  void kernel(Rank, Step, const Kernel&) override {}
  void collective(const Communicator&,
                  const std::vector<const Collective*>&) override {}
  void send(Rank, const Slice&, std::size_t) override {}
  void receive(Rank, const Slice&, std::size_t) override {}
};

}  // namespace

void verify(const Planner& planner, const PlanInput& input, Step steps) {
  const PlanWorld world(planner, input, steps);
  NullMachine machine;
  interpret(world, machine);
  verify_overlapped(world);
}

}  // namespace paceline::plan
