// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/local_steps.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

constexpr std::string_view kOuterMomentum = "outer_momentum";
constexpr std::string_view kOuterGradients = "outer_gradients";

struct Outer {
  Step every = 1, delay = 0;
  Elements fragments = 1;
  double rate = 1, momentum = 0;
  double mix = 0;  // the weight of the rank's own values after a delay
};

/// Every rank trains alone; at the end of every H-th step the mean of how far
/// the ranks have moved is a gradient for an outer optimizer, SGD with Nesterov
/// momentum.  With a, m: anchor and outer momentum, equal on all ranks,
///   d   = 1/P sum over i of (a - x_i)
///   m   <- mu m + d
///   a   <- a - eta (d + mu m)
///   x_i <- a
///
/// fragments=F cuts the buckets into F fragments of about equal size, whose
/// outer steps are spread over the H.  delay=k lets a fragment leave k steps
/// before its outer step, while the ranks train on; then
/// x_i <- mix x_i + (1 - mix) a.
///
///   rounds per step            1/H exchange, of a fragment F/H
///   bytes sent, rank and step  1/H of exchanging S = model size
///   extra memory, rank         3 S
///   guarantee                  ranks hold the same after every H-th step;
///                              with fragments or a delay, their anchors do
///
/// eta = 1 and mu = 0 is local SGD.  Douillard et al., 2023, arXiv:2311.08105,
/// Algorithm 1; fragments and delay: Douillard et al., 2025, arXiv:2501.18512,
/// Algorithm 2.
class Diloco final : public UpdateRule {
 public:
  explicit Diloco(const Outer& outer) : outer_(outer) {}

  /// Which fragment leaves, or none, and which arrives.
  Variant variants() const override {
    return (outer_.fragments + 1) * (outer_.fragments + 1);
  }
  Variant variant(Step step) const override {
    return (fragment_at(step + outer_.delay) + 1) * (outer_.fragments + 1) +
           fragment_at(step) + 1;
  }

  Step interval() const override { return outer_.every; }

  void extend(const ExchangeRule&, SetupBuilder& builder) const override {
    const std::size_t buckets = builder.buckets().size();
    if (static_cast<Elements>(buckets) < outer_.fragments) {
      throw UsageError(fmt::format(
          "diloco:fragments={}: the schedule makes {} of the network, and a "
          "fragment is one or more; take fewer fragments or a smaller "
          "bucket-mb",
          outer_.fragments,
          buckets == 1 ? std::string("one bucket")
                       : fmt::format("{} buckets", buckets)));
    }
    builder.add_twin(kAnchor, Initial::kParameters);
    builder.add_twin(kOuterMomentum);
    builder.add_twin(kOuterGradients);
  }

  void compute(StrategyProgram& program) const override {
    refuse_loss_scaling("diloco", program.input());
    program.compute();
  }

  void start(const Bucket& bucket, StrategyProgram& program) const override {
    program.update(bucket, 1);
    if (fragment_of(bucket, program) != leaves(program)) {
      return;
    }
    const Slice moved = range_in(kOuterGradients, bucket.values, program);
    if (program.trains()) {
      program.kernel(
          "linear",
          {{range_in(kAnchor, bucket.values, program)}, {bucket.values}},
          {{moved}},
          {1, -1});
    }
    program.start_exchange(moved);
  }

  void finish(const Bucket& bucket, StrategyProgram& program) const override {
    if (fragment_of(bucket, program) == arrives(program)) {
      program.finish_exchange(
          range_in(kOuterGradients, bucket.values, program));
    }
  }

  void apply(const Bucket& bucket, StrategyProgram& program) const override {
    for (const Bucket& mine : buckets_in(bucket, program)) {
      if (program.trains() && fragment_of(mine, program) == arrives(program)) {
        take_outer_step(mine, program);
      }
    }
  }

 private:
  /// The fragment whose outer step ends a step: those of one interval at equal
  /// distances, the last with its end.  -1: none.
  Elements fragment_at(Step step) const {
    for (Elements f = 0; f < outer_.fragments; ++f) {
      if (step % outer_.every ==
          (f + 1) * outer_.every / outer_.fragments - 1) {
        return f;
      }
    }
    return -1;
  }

  Elements leaves(const Program& program) const {
    return program.turn() / (outer_.fragments + 1) - 1;
  }
  Elements arrives(const Program& program) const {
    return program.turn() % (outer_.fragments + 1) - 1;
  }

  /// The number of the fragment that a bucket, or a part of one, belongs to.
  Elements fragment_of(const Bucket& bucket, const Program& program) const {
    return static_cast<Elements>(program.bucket_at(bucket.values.begin)) *
           outer_.fragments / std::ssize(program.buckets());
  }

  void take_outer_step(const Bucket& bucket, StrategyProgram& program) const {
    const Slice anchor = range_in(kAnchor, bucket.values, program);
    const Slice momentum = range_in(kOuterMomentum, bucket.values, program);
    program.kernel("nesterov",
                   {{anchor},
                    {momentum},
                    {range_in(kOuterGradients, bucket.values, program)}},
                   {{anchor}, {momentum}},
                   {outer_.rate, outer_.momentum, program.divisor()});
    if (outer_.mix == 0) {
      program.kernel("copy", {{anchor}}, {{bucket.values}}, {1});
    } else {
      program.kernel("linear",
                     {{bucket.values}, {anchor}},
                     {{bucket.values}},
                     {outer_.mix, 1 - outer_.mix});
    }
  }

  Outer outer_;
};

Outer outer_of(const Options& options) {
  const Outer outer{.every = interval_of(options, "diloco"),
                    .delay = options.count("delay"),
                    .fragments = options.count("fragments"),
                    .rate = options.number("outer-lr"),
                    .momentum = options.number("outer-momentum"),
                    .mix = options.number("mix")};
  if (outer.fragments < 1 || outer.fragments > std::min<Step>(outer.every, 6)) {
    throw UsageError(fmt::format(
        "diloco:fragments={}: from 1 to 6, and no more than every={}",
        outer.fragments,
        outer.every));
  }
  if (outer.delay >= outer.every / outer.fragments) {
    throw UsageError(
        fmt::format("diloco:delay={}: a fragment arrives before the next one "
                    "does, so at most every / fragments - 1 = {} is possible",
                    outer.delay,
                    outer.every / outer.fragments - 1));
  }
  if (outer.mix >= 1 || (outer.mix > 0 && outer.delay == 0)) {
    throw UsageError(
        fmt::format("diloco:mix={}: below 1, and 0 where delay=0", outer.mix));
  }
  return outer;
}

}  // namespace

std::unique_ptr<UpdateRule> make_diloco(const Options& options) {
  return std::make_unique<Diloco>(outer_of(options));
}

}  // namespace paceline::strategies
