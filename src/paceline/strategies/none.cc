// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/buckets.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

/// Every rank trains alone: it computes, then updates everything at once.  This measures a step
/// without communication while all ranks compute at once.
///
///   rounds per step            0
///   bytes sent, rank and step  0
///   extra memory, rank         none
///   guarantee                  local: ranks agree on nothing
class NoExchange final : public Planner {
 public:
  Setup setup(const PlanInput& input) const override {
    check_shape(input);
    return SetupBuilder(input, one_group(input.model)).finish();
  }

  Variant variant(const PlanInput&, Step) const override { return 0; }

  CommPlan plan(const PlanInput& input, const Setup& setup, Variant) const override {
    Program program(input, setup);
    program.compute();
    program.check_gradients();
    for (const Bucket& bucket : buckets_of(setup, one_group(input.model))) {
      program.update(bucket, 1);
    }
    return std::move(program).finish();
  }

  Symmetry symmetry(const PlanInput& input) const override {
    return symmetry_in_any_order(input.world);
  }
};

}  // namespace

std::unique_ptr<Planner> make_none(const Options&) { return std::make_unique<NoExchange>(); }

}  // namespace paceline::strategies
