// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/learning_rate.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"

namespace paceline::cases {

RateDecay parse_rate_decay(const std::string& where, const std::string& text) {
  RateDecay decay;
  if (text.empty()) {
    return decay;
  }
  const std::size_t at = std::min(text.find('@'), text.size());
  decay.factor = number_from<double>(text.substr(0, at)).value_or(0);
  for (const std::string& step : split_at(text.substr(std::min(at + 1, text.size())), '+')) {
    decay.steps.push_back(number_from<std::int64_t>(step).value_or(0));
  }
  if (!(decay.factor > 0 && decay.factor < 1) || decay.steps.front() < 1 ||
      !std::ranges::is_sorted(decay.steps)) {
    throw UsageError(fmt::format(
        "{}: '{}' is not a factor between 0 and 1 and steps in ascending order, as 0.1@200+300",
        where, text));
  }
  return decay;
}

double learning_rate_at(const Case& c, std::int64_t step) {
  double rate = c.learning_rate;
  if (step < c.lr_warmup) {
    rate *= static_cast<double>(step + 1) / c.lr_warmup;
  }
  const RateDecay decay = parse_rate_decay("--lr-decay", c.lr_decay);
  for (const std::int64_t at : decay.steps) {
    rate *= step >= at ? decay.factor : 1;
  }
  return rate;
}

}  // namespace paceline::cases
