// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/strategies/strategy.h"
#include "paceline/strategies/topology.h"

namespace paceline::strategies {
namespace {

/// The number that the whole text is, where `valid` takes it; throws
/// UsageError, which says that `wanted` is.
template <class Number>
Number parse(std::string_view where,
             std::string_view text,
             std::string_view wanted,
             bool (*valid)(Number)) {
  const auto value = number_from<Number>(text);
  if (!value || !valid(*value)) {
    throw UsageError(fmt::format(
        "strategy option {}={}: {} is wanted", where, text, wanted));
  }
  return *value;
}

double parse_mebibytes(std::string_view where, std::string_view text) {
  return parse<double>(
      where,
      text,
      fmt::format("a number of MiB from 0 to {:.0f}", kMostMebibytes),
      [](double value) { return value >= 0 && value <= kMostMebibytes; });
}

std::int64_t parse_count(std::string_view where, std::string_view text) {
  return parse<std::int64_t>(
      where,
      text,
      "a whole number from 0 to 1000000000",
      [](std::int64_t value) { return value >= 0 && value <= 1'000'000'000; });
}

double parse_fraction(std::string_view where, std::string_view text) {
  return parse<double>(
      where, text, "a number above 0, at most 1,", [](double value) {
        return value > 0 && value <= 1;
      });
}

double parse_number(std::string_view where, std::string_view text) {
  return parse<double>(
      where, text, "a number from 0 to 1000", [](double value) {
        return value >= 0 && value <= 1000;
      });
}

double parse_momentum(std::string_view where, std::string_view text) {
  return parse<double>(
      where, text, "a number of at least 0 and below 1", [](double value) {
        return value >= 0 && value < 1;
      });
}

/// The option's value in its canonical form.  `where` names it in messages,
/// row:key.
std::string parse_option(const OptionInfo& option,
                         const std::string& where,
                         const std::string& text) {
  const auto above_0 = [&](double value, std::string_view what) {
    if (option.positive && value == 0) {
      throw UsageError(fmt::format(
          "strategy option {}={}: a {} above 0 is wanted", where, text, what));
    }
  };
  switch (option.kind) {
    case OptionKind::kMebibytes: {
      const double value = parse_mebibytes(where, text);
      above_0(value, "number of MiB");
      return fmt::format("{}", value);
    }
    case OptionKind::kCount: {
      const std::int64_t value = parse_count(where, text);
      above_0(static_cast<double>(value), "whole number");
      return fmt::format("{}", value);
    }
    case OptionKind::kNumber:
      return fmt::format("{}", parse_number(where, text));
    case OptionKind::kMomentum:
      return fmt::format("{}", parse_momentum(where, text));
    case OptionKind::kFraction:
      return fmt::format("{}", parse_fraction(where, text));
    case OptionKind::kTopology:
      return TopologyChoice(text).text();
    case OptionKind::kWord:
      break;
  }
  if (std::ranges::find(option.words, text) == option.words.end()) {
    throw UsageError(fmt::format(
        "{}: '{}' is none of: {}", where, text, fmt::join(option.words, ", ")));
  }
  return text;
}

std::string fallback_text(
    const OptionInfo& option,
    const std::vector<std::pair<std::string_view, std::string>>& resolved,
    const StrategyDefaults& defaults) {
  if (option.fallback == "--bucket-mb") {
    return fmt::format("{}", defaults.bucket_mb);
  }
  for (const auto& [key, value] : resolved) {
    if (key == option.fallback) {
      return value;
    }
  }
  return std::string(option.fallback);
}

}  // namespace

Options resolve(const RowInfo& row,
                const GivenOptions& given,
                const StrategyDefaults& defaults) {
  std::vector<std::string_view> known;
  for (const OptionInfo& option : row.options) {
    known.push_back(option.key);
  }
  for (const auto& [key, value] : given) {
    if (std::ranges::find(known, key) == known.end()) {
      throw UsageError(fmt::format(
          "strategy '{}' has no option '{}'; {}",
          row.name,
          key,
          known.empty() ? std::string("it takes none")
                        : fmt::format("known: {}", fmt::join(known, ", "))));
    }
  }
  std::vector<std::pair<std::string_view, std::string>> resolved;
  for (const OptionInfo& option : row.options) {
    std::optional<std::string> text;
    for (const auto& [key, value] : given) {
      if (key == option.key && text.has_value()) {
        throw UsageError(
            fmt::format("strategy '{}': '{}' is given twice", row.name, key));
      }
      if (key == option.key) {
        text = value;
      }
    }
    const std::string where = fmt::format("{}:{}", row.name, option.key);
    resolved.emplace_back(
        option.key,
        parse_option(option,
                     where,
                     text ? *text : fallback_text(option, resolved, defaults)));
  }
  return Options(std::move(resolved));
}

std::string choice_text(const RowInfo& row, const Options& given) {
  std::vector<std::string> options;
  for (const auto& [key, value] : given.values()) {
    const auto info = std::ranges::find(row.options, key, &OptionInfo::key);
    if (!info->implied || value != info->fallback) {
      options.push_back(fmt::format("{}={}", key, value));
    }
  }
  return fmt::format(
      "{}{}{}", row.name, options.empty() ? "" : ":", fmt::join(options, ","));
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
