// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/buckets.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// Each exchange is split into two halves.  The first halves run in parallel with backward, bucket
/// by bucket in ready order.  The second halves run in parallel with the next forward, in the order
/// in which it reads the buckets, and a module waits only for its own buckets.
///
///   rounds per step            the two halves of one exchange
///   bytes sent, rank and step  the bytes of exchanging S = model size
///   extra memory, rank         none besides that of the exchange
///   guarantee                  the guarantee of its exchange; the final drain completes
///                              the last step's second halves and updates
///
/// With rs-ag the halves are a reduce-scatter and an all-gather; any other exchange is split
/// between its start() and its finish().  Buckets close by the rule of fusion.  Zhang et al.
/// (DeAR), ICDCS 2023, arXiv:2302.12445.
class Dear final : public ScheduleRule {
 public:
  explicit Dear(std::int64_t threshold) : threshold_(threshold) {}

  Groups groups(const PlanInput& input, const TransferTime&) const override {
    return assign_buckets(input.model, input.model.ready_order, {threshold_});
  }

  void write(PlanWriter& writer) const override {
    const std::vector<Bucket>& buckets = writer.buckets();
    writer.compute();
    const auto [modules, order] = first_reads_of(writer.program().input().model, buckets);
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      writer.start(buckets[i], modules[i]);
    }
    for (const std::size_t i : order) {
      writer.finish(buckets[i], modules[i]);
      writer.apply(buckets[i], modules[i]);
    }
  }

 private:
  std::int64_t threshold_;  // size at which a bucket closes, in bytes
};

}  // namespace

std::unique_ptr<ScheduleRule> make_dear(const Options& options) {
  return std::make_unique<Dear>(options.bytes_of_mebibytes("bucket-mb"));
}

}  // namespace paceline::strategies
