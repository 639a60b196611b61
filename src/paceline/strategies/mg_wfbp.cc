// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/cut_rule.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// Neighbors in ready order are merged by the published greedy rule, with times from a profile and
/// an alpha-beta model.  The next gradient joins the pending bucket if the gradient is ready before
/// the transfer of the bucket would have ended and if waiting for it costs less than the start-up
/// time that merging saves.
///
///   rounds per step            one exchange per bucket, all independent
///   bytes sent, rank and step  the bytes of exchanging S = model size
///   extra memory, rank         none besides that of the exchange
///   guarantee                  the guarantee of its exchange
///
/// The rule is greedy and may miss the best merge, which optimal-merge finds.  small-elements is an
/// addition of HKBU-HPML/ddl-benchmarks to the paper: a bucket of fewer elements is merged in any
/// case.  Shi et al., INFOCOM 2019, arXiv:1811.11141; TPDS 2021, arXiv:1912.09268.
class MgWfbp final : public CutRule {
 public:
  explicit MgWfbp(Elements small) : small_(small) {}

 private:
  PredictedCut cut(const PlanInput& input, const TransferTime& time) const override {
    return step_of(step_timings_of(input, kName), time,
                   greedy_merge(tensors_of(input, kName), time, small_));
  }

  static constexpr std::string_view kName = "mg-wfbp";

  Elements small_;
};

}  // namespace

std::unique_ptr<ScheduleRule> make_mg_wfbp(const Options& options) {
  return std::make_unique<MgWfbp>(options.count("small-elements"));
}

}  // namespace paceline::strategies
