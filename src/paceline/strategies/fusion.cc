// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/buckets.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// Tensors are fused, in ready order, into buckets of about the threshold's size.  A bucket is
/// exchanged when its last gradient is final and is applied by itself, so a module's next forward
/// waits only for the buckets that it reads.
///
///   rounds per step            one exchange per bucket, all independent
///   bytes sent, rank and step  the bytes of exchanging S = model size
///   extra memory, rank         none besides that of the exchange
///   guarantee                  the guarantee of its exchange
///
/// The closing rule is that of PyTorch's c10d::Reducer: a bucket closes as soon as its bytes,
/// without padding, reach the threshold *after* adding a tensor.  So it may exceed the threshold by
/// less than its last tensor.  Threshold 0 makes one bucket per tensor.  Fusing by size: Sergeev
/// and Del Balso (Horovod), 2018, arXiv:1802.05799, section 4; Li et al., VLDB 2020,
/// arXiv:2006.15704, section 3.2.3.
class Fusion final : public ScheduleRule {
 public:
  explicit Fusion(std::int64_t threshold) : threshold_(threshold) {}

  Groups groups(const PlanInput& input, const TransferTime&) const override {
    return assign_buckets(input.model, input.model.ready_order, {threshold_});
  }

 private:
  std::int64_t threshold_;  // size at which a bucket closes, in bytes
};

}  // namespace

std::unique_ptr<ScheduleRule> make_fusion(const Options& options) {
  return std::make_unique<Fusion>(options.bytes_of_mebibytes("bucket-mb"));
}

}  // namespace paceline::strategies
