// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/buckets.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

/// All gradients are transferred in one exchange after backward and are applied in one update
/// (bulk-synchronous).  The next step begins after that update, so no communication overlaps it.
///
///   rounds per step            1 exchange
///   bytes sent, rank and step  the bytes of one exchange of S = model size
///   extra memory, rank         none besides that of the exchange
///   guarantee                  the guarantee of its exchange
///
/// Valiant, CACM 1990, doi:10.1145/79173.79181.
class Bsp final : public ScheduleRule {
 public:
  Groups groups(const PlanInput& input, const TransferTime&) const override {
    return one_group(input.model);
  }
};

}  // namespace

std::unique_ptr<ScheduleRule> make_bsp(const Options&) { return std::make_unique<Bsp>(); }

}  // namespace paceline::strategies
