// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/early_update.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

constexpr std::string_view kTrackerBuffer = "tracker";
constexpr std::string_view kPreviousGradientsBuffer = "previous_gradients";

/// Every rank tracks the mean gradient of all ranks by averages with neighbors and steps along the
/// tracker.  With g_i the gradient at x_i, h_i the gradient of the previous step, and the tracker
/// y_i, where y_i and h_i start at zero,
///   y_i <- sum over j of W_ij (y_j + g_j - h_j)
///   x_i <- sum over j of W_ij (x_j - lr * opt(y_j))
///
///   rounds per step            2 exchanges, one after the other
///   bytes sent, rank and step  twice the bytes of exchanging S = model size
///   extra memory, rank         2 S and the memory of the exchange
///   guarantee                  consensus: ranks agree in the limit only, on a
///                              minimum of the mean loss, even if the ranks'
///                              losses differ and the rate is fixed
///
/// The mean of the trackers is the mean of the gradients in every step, since columns of W sum to
/// 1.  Xu et al. (Aug-DGM), IEEE CDC 2015, doi:10.1109/CDC.2015.7402509; W that varies: Nedic et
/// al., SIAM J. Optim. 2017, arXiv:1607.03218.
class GradientTracking final : public EarlyUpdate {
 public:
  GradientTracking() : EarlyUpdate("gradient-tracking", Clipping::kInPlace) {}

  void extend_setup(const ExchangeRule&, SetupBuilder& builder) const override {
    builder.add_buffer_like_values(kTrackerBuffer);
    builder.add_buffer_like_values(kPreviousGradientsBuffer);
  }

  void start(const Bucket& bucket, StrategyProgram& program) const override {
    const Slice tracker = same_range_in(kTrackerBuffer, bucket.values, program);
    const Slice previous = same_range_in(kPreviousGradientsBuffer, bucket.values, program);
    program.kernel("linear", {{tracker}, {bucket.gradients}, {previous}}, {{tracker}}, {1, 1, -1});
    program.kernel("copy", {{bucket.gradients}}, {{previous}}, {1});
    program.start_exchange(tracker);
  }

  void finish(const Bucket& bucket, StrategyProgram& program) const override {
    program.finish_average(same_range_in(kTrackerBuffer, bucket.values, program));
  }

  /// The two exchanges share the receive buffers of neighbors, so the second exchange begins after
  /// the first one has ended.
  void apply(const Bucket& bucket, StrategyProgram& program) const override {
    for (const Bucket& mine : buckets_in(bucket, program)) {
      program.kernel("copy", {{same_range_in(kTrackerBuffer, mine.values, program)}},
                     {{mine.gradients}}, {1});
      program.update(mine, 1);
      program.start_exchange(mine.values);
      program.finish_average(mine.values);
    }
  }
};

}  // namespace

std::unique_ptr<UpdateRule> make_gradient_tracking(const Options&) {
  return std::make_unique<GradientTracking>();
}

}  // namespace paceline::strategies
