// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/buckets.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

/// Every tensor is exchanged by itself as soon as its gradient is final, in parallel with the rest
/// of backward (wait-free backpropagation).  All tensors are applied together, as in the original
/// implementations, which wait for the last one in step().
///
///   rounds per step            one exchange per tensor, all independent
///   bytes sent, rank and step  the bytes of exchanging S = model size
///   extra memory, rank         none besides that of the exchange
///   guarantee                  the guarantee of its exchange
///
/// Zhang et al. (Poseidon), USENIX ATC 2017, arXiv:1706.03292, section 3.1.
class Wfbp final : public ScheduleRule {
 public:
  Groups groups(const PlanInput& input, const TransferTime&) const override {
    return single_groups(input.model);
  }

  void write(PlanWriter& writer) const override {
    const std::vector<Bucket>& buckets = writer.buckets();
    writer.compute();
    for (const Bucket& bucket : buckets) {
      writer.start(bucket);
      writer.finish(bucket);
    }
    writer.apply(join(buckets));
  }
};

}  // namespace

std::unique_ptr<ScheduleRule> make_wfbp(const Options&) { return std::make_unique<Wfbp>(); }

}  // namespace paceline::strategies
