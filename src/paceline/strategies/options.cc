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

/// The numbers that a kind of option accepts, and the words for them in error messages.
struct NumberKind {
  std::string_view wanted;
  std::string_view noun;  // for messages that reject 0
  bool (*valid)(double);
};

NumberKind number_kind(OptionKind kind) {
  switch (kind) {
    case OptionKind::kMebibytes:
      return {"a number of MiB from 0 to 1000000", "number of MiB",
              [](double value) { return value >= 0 && value <= kMostMebibytes; }};
    case OptionKind::kCount:
      return {"a whole number from 0 to 1000000000", "whole number",
              [](double value) { return value >= 0 && value <= 1e9; }};
    case OptionKind::kFraction:
      return {"a number above 0, at most 1,", "",
              [](double value) { return value > 0 && value <= 1; }};
    case OptionKind::kMomentum:
      return {"a number of at least 0 and below 1", "",
              [](double value) { return value >= 0 && value < 1; }};
    default:
      return {"a number from 0 to 1000", "",
              [](double value) { return value >= 0 && value <= 1000; }};
  }
}

/// Parses the whole text as a number and returns its canonical form.
template <class Number>
std::string parse_number(const OptionInfo& option, const std::string& where,
                         const std::string& text) {
  const NumberKind kind = number_kind(option.kind);
  const auto value = number_from<Number>(text);
  if (!value || !kind.valid(static_cast<double>(*value))) {
    throw UsageError(fmt::format("strategy option {}={}: {} is wanted", where, text, kind.wanted));
  }
  if (option.positive && *value == 0) {
    throw UsageError(
        fmt::format("strategy option {}={}: a {} above 0 is wanted", where, text, kind.noun));
  }
  return fmt::format("{}", *value);
}

/// Returns the option's value in its canonical form.  `where` is its name in messages, row:key.
std::string parse_option(const OptionInfo& option, const std::string& where,
                         const std::string& text) {
  switch (option.kind) {
    case OptionKind::kCount:
      return parse_number<std::int64_t>(option, where, text);
    case OptionKind::kTopology:
      return TopologyChoice(text).text();
    case OptionKind::kWord:
      break;
    default:
      return parse_number<double>(option, where, text);
  }
  if (std::ranges::find(option.words, text) == option.words.end()) {
    throw UsageError(
        fmt::format("{}: '{}' is none of: {}", where, text, fmt::join(option.words, ", ")));
  }
  return text;
}

std::string fallback_text(const OptionInfo& option,
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

Options resolve(const RowInfo& row, const OptionTexts& given, const StrategyDefaults& defaults) {
  std::vector<std::string_view> known;
  for (const OptionInfo& option : row.options) {
    known.push_back(option.key);
  }
  for (const auto& [key, value] : given) {
    if (std::ranges::find(known, key) == known.end()) {
      throw UsageError(fmt::format("strategy '{}' has no option '{}'; {}", row.name, key,
                                   known.empty()
                                       ? std::string("it takes none")
                                       : fmt::format("known: {}", fmt::join(known, ", "))));
    }
  }
  std::vector<std::pair<std::string_view, std::string>> resolved;
  for (const OptionInfo& option : row.options) {
    std::optional<std::string> text;
    for (const auto& [key, value] : given) {
      if (key == option.key && text.has_value()) {
        throw UsageError(fmt::format("strategy '{}': '{}' is given twice", row.name, key));
      }
      if (key == option.key) {
        text = value;
      }
    }
    const std::string where = fmt::format("{}:{}", row.name, option.key);
    resolved.emplace_back(
        option.key,
        parse_option(option, where, text ? *text : fallback_text(option, resolved, defaults)));
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
  return fmt::format("{}{}{}", row.name, options.empty() ? "" : ":", fmt::join(options, ","));
}

const std::string* Options::find(std::string_view key) const {
  const auto found =
      std::ranges::find(values_, key, &std::pair<std::string_view, std::string>::first);
  return found == values_.end() ? nullptr : &found->second;
}

void Options::erase(std::string_view key) {
  std::erase_if(values_, [&](const auto& option) { return option.first == key; });
}

const std::string& Options::text(std::string_view key) const {
  const std::string* found = find(key);
  PACELINE_CHECK(found != nullptr);
  return *found;
}

std::int64_t Options::bytes_of_mebibytes(std::string_view key) const {
  constexpr double kMebibyte = 1024.0 * 1024.0;
  return static_cast<std::int64_t>(number(key) * kMebibyte);
}

std::int64_t Options::count(std::string_view key) const {
  return number_from<std::int64_t>(text(key)).value();
}

double Options::number(std::string_view key) const {
  return number_from<double>(text(key)).value();
}

}  // namespace paceline::strategies
