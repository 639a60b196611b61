// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/learning_rate.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::cases {
namespace {

/// Parses a number at the front of `text` and removes it; returns false if there is none.
template <class T>
bool take(std::string_view& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc{};
}

}  // namespace

RateDecay parse_rate_decay(const std::string& where, const std::string& text) {
  RateDecay decay;
  if (text.empty()) {
    return decay;
  }
  std::string_view rest = text;
  bool good =
      take(rest, decay.factor) && decay.factor > 0 && decay.factor < 1 && rest.starts_with('@');
  while (good && !rest.empty()) {
    rest.remove_prefix(1);  // the character @ or +
    good = take(rest, decay.steps.emplace_back()) && decay.steps.back() > 0 &&
           (rest.empty() || rest.starts_with('+'));
  }
  if (!good || !std::ranges::is_sorted(decay.steps)) {
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
