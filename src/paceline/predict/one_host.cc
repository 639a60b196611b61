// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/one_host.h"

#include <fmt/format.h>

#include "paceline/strategies/hosts.h"

namespace paceline::predict {

std::optional<records::Warning> one_host_warning(const strategies::StrategySpec& strategy,
                                                 const plan::PlanInput& input) {
  if (!strategies::reduces_on_one_host_only(strategy, input)) {
    return std::nullopt;
  }
  return records::Warning{
      .code = "one-host-alone",
      .seen = fmt::format("'{}' exchanges between hosts, and all its ranks are on one",
                          strategy.exchange.row->name),
      .why = "the plan is a sum over the ranks of that host and nothing else",
      .advice =
          "name several hosts (-H a:4,b:4), or divide this one into "
          "several with --local-size"};
}

std::optional<records::Warning> idle_codec_warning(const strategies::StrategySpec& strategy,
                                                   plan::Rank world) {
  if (world > 1 || strategy.codec.row == nullptr ||
      strategy.codec.row->guarantee == strategies::Guarantee::kNeutral) {
    return std::nullopt;
  }
  return records::Warning{
      .code = "codec-idle",
      .seen = fmt::format("'{}' encodes what ranks exchange, and there is one rank",
                          strategy.codec.row->name),
      .why = "nothing is encoded: the case trains as one without a codec",
      .advice = "take two ranks or more to see what the codec costs and does"};
}

}  // namespace paceline::predict
