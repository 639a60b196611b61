// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/early_update.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

constexpr std::string_view kOuterMomentum = "outer_momentum";
constexpr std::string_view kOuterGradients = "outer_gradients";

/// Every rank trains alone.  At the end of every H-th step, the mean of the ranks' changes since
/// the last such step is the gradient of an outer optimizer, SGD with Nesterov momentum.  With the
/// anchor a and the outer momentum m, which are equal on all ranks,
///   d   = 1/P sum over i of (a - x_i)
///   m   <- mu m + d
///   a   <- a - eta (d + mu m)
///   x_i <- a
///
/// fragments=F divides the buckets into F fragments of about equal size, whose outer steps are
/// spread over the H steps.  delay=k starts the exchange of a fragment k steps before its outer
/// step, while the ranks go on training; then x_i <- mix x_i + (1 - mix) a replaces x_i <- a.
///
///   rounds per step            1/H exchange, of a fragment F/H
///   bytes sent, rank and step  1/H of exchanging S = model size
///   extra memory, rank         3 S
///   guarantee                  ranks are equal after every H-th step; with
///                              fragments or a delay only their anchors are
///
/// With eta = 1 and mu = 0 this is local SGD.  Douillard et al., 2023, arXiv:2311.08105, Algorithm
/// 1; fragments and delay: Douillard et al., 2025, arXiv:2501.18512, Algorithm 2.
class Diloco final : public PeriodicRule {
 public:
  explicit Diloco(const Options& options)
      : PeriodicRule("diloco", options),
        delay_(options.count("delay")),
        fragments_(options.count("fragments")),
        rate_(options.number("outer-lr")),
        momentum_(options.number("outer-momentum")),
        mix_(options.number("mix")) {
    check_options();
  }

  /// The variant encodes two things: which fragment starts its exchange in the step, and which one
  /// ends it; each may be none.
  Variant variants() const override { return (fragments_ + 1) * (fragments_ + 1); }
  Variant variant(Step step) const override {
    return (fragment_at(step + delay_) + 1) * (fragments_ + 1) + fragment_at(step) + 1;
  }

  void extend_setup(const ExchangeRule&, SetupBuilder& builder) const override {
    const std::size_t buckets = builder.buckets().size();
    if (static_cast<Elements>(buckets) < fragments_) {
      throw UsageError(fmt::format(
          "diloco:fragments={}: the schedule makes {} of the network, and a fragment is one or "
          "more; take fewer fragments or a smaller bucket-mb",
          fragments_,
          buckets == 1 ? std::string("one bucket") : fmt::format("{} buckets", buckets)));
    }
    builder.add_buffer_like_values(kAnchor, InitialValue::kParameters);
    builder.add_buffer_like_values(kOuterMomentum);
    builder.add_buffer_like_values(kOuterGradients);
  }

  void finish(const Bucket& bucket, StrategyProgram& program) const override {
    if (fragment_of(bucket, program) == arrives(program)) {
      program.finish_exchange(same_range_in(kOuterGradients, bucket.values, program));
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
  void check_options() const {
    if (fragments_ < 1 || fragments_ > std::min<Step>(interval(), 6)) {
      throw UsageError(fmt::format("diloco:fragments={}: from 1 to 6, and no more than every={}",
                                   fragments_, interval()));
    }
    if (delay_ >= interval() / fragments_) {
      throw UsageError(
          fmt::format("diloco:delay={}: a fragment arrives before the next one does, so at most "
                      "every / fragments - 1 = {} is possible",
                      delay_, interval() / fragments_ - 1));
    }
    if (mix_ >= 1 || (mix_ > 0 && delay_ == 0)) {
      throw UsageError(fmt::format("diloco:mix={}: below 1, and 0 where delay=0", mix_));
    }
  }

  void send(const Bucket& bucket, StrategyProgram& program) const override {
    if (fragment_of(bucket, program) != leaves(program)) {
      return;
    }
    const Slice moved = same_range_in(kOuterGradients, bucket.values, program);
    if (program.trains()) {
      program.kernel("linear", {{same_range_in(kAnchor, bucket.values, program)}, {bucket.values}},
                     {{moved}}, {1, -1});
    }
    program.start_exchange(moved);
  }

  /// The fragment whose outer step is at the end of `step`; -1 if there is none.  The outer steps
  /// of an interval are equally spaced, and the last one is at the end of the interval.
  Elements fragment_at(Step step) const {
    for (Elements f = 0; f < fragments_; ++f) {
      if (step % interval() == (f + 1) * interval() / fragments_ - 1) {
        return f;
      }
    }
    return -1;
  }

  Elements leaves(const Program& program) const { return program.turn() / (fragments_ + 1) - 1; }
  Elements arrives(const Program& program) const { return program.turn() % (fragments_ + 1) - 1; }

  /// Returns the index of the fragment to which the bucket, or the part of a bucket, belongs.
  Elements fragment_of(const Bucket& bucket, const Program& program) const {
    return static_cast<Elements>(program.bucket_at(bucket.values.begin)) * fragments_ /
           std::ssize(program.buckets());
  }

  void take_outer_step(const Bucket& bucket, StrategyProgram& program) const {
    const Slice anchor = same_range_in(kAnchor, bucket.values, program);
    const Slice momentum = same_range_in(kOuterMomentum, bucket.values, program);
    program.kernel("nesterov",
                   {{anchor}, {momentum}, {same_range_in(kOuterGradients, bucket.values, program)}},
                   {{anchor}, {momentum}}, {rate_, momentum_, program.divisor()});
    if (mix_ == 0) {
      program.kernel("copy", {{anchor}}, {{bucket.values}}, {1});
    } else {
      program.kernel("linear", {{bucket.values}, {anchor}}, {{bucket.values}}, {mix_, 1 - mix_});
    }
  }

  Step delay_;
  Elements fragments_;
  double rate_, momentum_;
  double mix_;  // the weight of the rank's own values after a delay
};

}  // namespace

std::unique_ptr<UpdateRule> make_diloco(const Options& options) {
  return std::make_unique<Diloco>(options);
}

}  // namespace paceline::strategies
