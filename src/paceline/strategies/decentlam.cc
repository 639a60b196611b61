// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/early_update.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

/// Adapt-then-combine whose optimizer gets, in place of the gradient, the change that a plain step
/// and the average make together:
///   y_i = x_i - lr * g(x_i)
///   d_i = (x_i - sum over j of W_ij y_j) / lr
///   x_i <- x_i - lr * opt(d_i)
///
///   rounds per step            1 exchange
///   bytes sent, rank and step  the bytes of exchanging S = model size
///   extra memory, rank         the memory of the exchange
///   guarantee                  consensus: ranks agree in the limit only
///
/// With momentum of the gradients alone, the bias of averages with neighbors is larger than without
/// momentum; here it is the same as without.  Without momentum the rule equals `atc`.  The learning
/// rate must be above 0.  Yuan et al., ICCV 2021, arXiv:2104.11981.
class DecentLam final : public EarlyUpdate {
 public:
  DecentLam() : EarlyUpdate("decentlam", Clipping::kInPlace) {}

  bool divides_by_rate() const override { return true; }

  /// The buffer of the gradients first holds y, and later d of the formulas above.
  void start(const Bucket& bucket, StrategyProgram& program) const override {
    const Slice& y = bucket.gradients;
    program.kernel("multiply", {{y}, {rate(program)}}, {{y}});
    program.kernel("linear", {{bucket.values}, {y}}, {{y}}, {1, -1});
    program.start_exchange(y);
  }

  void finish(const Bucket& bucket, StrategyProgram& program) const override {
    program.finish_average(bucket.gradients);
  }

  void apply(const Bucket& bucket, StrategyProgram& program) const override {
    const Slice& d = bucket.gradients;
    program.kernel("linear", {{bucket.values}, {d}}, {{d}}, {1, -1});
    program.kernel("divide", {{d}, {rate(program)}}, {{d}});
    program.update(bucket, 1);
  }

 private:
  static Slice rate(const Program& program) { return whole(program.setup(), kLearningRate); }
};

}  // namespace

std::unique_ptr<UpdateRule> make_decentlam(const Options&) { return std::make_unique<DecentLam>(); }

}  // namespace paceline::strategies
