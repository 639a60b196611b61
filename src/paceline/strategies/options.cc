// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/options.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/strategies/topology.h"

namespace paceline::strategies {
namespace {

/// Reads a number of MiB; throws UsageError.
double parse_mebibytes(std::string_view where, std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() ||
      !(value >= 0 && value <= kMostMebibytes)) {
    throw UsageError(fmt::format(
        "strategy option {}={}: a number of MiB from 0 to {:.0f} is wanted",
        where,
        text,
        kMostMebibytes));
  }
  return value;
}

/// Reads a whole number; throws UsageError.
std::int64_t parse_count(std::string_view where, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0 ||
      value > 1'000'000'000) {
    throw UsageError(fmt::format(
        "strategy option {}={}: a whole number from 0 to 1000000000 is wanted",
        where,
        text));
  }
  return value;
}

/// Reads a number above 0, at most 1; throws UsageError.
double parse_fraction(std::string_view where, std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() ||
      !(value > 0 && value <= 1)) {
    throw UsageError(fmt::format(
        "strategy option {}={}: a number above 0, at most 1, is wanted",
        where,
        text));
  }
  return value;
}

/// Reads a number from 0 to 1000; throws UsageError.
double parse_number(std::string_view where, std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() ||
      !(value >= 0 && value <= 1000)) {
    throw UsageError(
        fmt::format("strategy option {}={}: a number from 0 to 1000 is wanted",
                    where,
                    text));
  }
  return value;
}

}  // namespace

std::string parse_option(const OptionInfo& option,
                         const std::string& where,
                         const std::string& text) {
  if (option.kind == OptionKind::kMebibytes) {
    const double value = parse_mebibytes(where, text);
    if (option.positive && value == 0) {
      throw UsageError(fmt::format(
          "strategy option {}={}: a number of MiB above 0 is wanted",
          where,
          text));
    }
    return fmt::format("{}", value);
  }
  if (option.kind == OptionKind::kCount) {
    const std::int64_t value = parse_count(where, text);
    if (option.positive && value == 0) {
      throw UsageError(
          fmt::format("strategy option {}={}: a whole number above 0 is wanted",
                      where,
                      text));
    }
    return fmt::format("{}", value);
  }
  if (option.kind == OptionKind::kNumber) {
    return fmt::format("{}", parse_number(where, text));
  }
  if (option.kind == OptionKind::kFraction) {
    return fmt::format("{}", parse_fraction(where, text));
  }
  if (option.kind == OptionKind::kTopology) {
    return TopologyChoice(text).text();
  }
  if (std::ranges::find(option.words, text) == option.words.end()) {
    throw UsageError(fmt::format(
        "{}: '{}' is none of: {}", where, text, fmt::join(option.words, ", ")));
  }
  return text;
}

const std::string& Options::text(std::string_view key) const {
  const auto found = std::ranges::find_if(
      values_, [&](const auto& option) { return option.first == key; });
  PACELINE_CHECK(found != values_.end());
  return found->second;
}

std::int64_t Options::bytes_of_mebibytes(std::string_view key) const {
  constexpr double kMebibyte = 1024.0 * 1024.0;
  return static_cast<std::int64_t>(parse_mebibytes(key, text(key)) * kMebibyte);
}

std::int64_t Options::count(std::string_view key) const {
  return parse_count(key, text(key));
}

double Options::number(std::string_view key) const {
  return parse_number(key, text(key));
}

double Options::fraction(std::string_view key) const {
  return parse_fraction(key, text(key));
}

}  // namespace paceline::strategies
