// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/cluster_units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "paceline/base/error.h"
#include "paceline/base/text.h"

namespace paceline::cluster {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

struct Quantity {
  double number = 0;
  std::string_view unit;
};

constexpr double kLargest = 9.0e18;  // the range of 64 bits, with a margin

std::optional<Quantity> split(std::string_view text) {
  text = trimmed(text);
  Quantity quantity;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, quantity.number);
  if (error != std::errc() || !std::isfinite(quantity.number)) {
    return std::nullopt;
  }
  quantity.unit = trimmed({rest, static_cast<std::size_t>(end - rest)});
  return quantity;
}

/// Returns the factor of a unit's prefix: for "Gbit" with base "bit" 1e9.
std::optional<double> prefix(std::string_view unit, std::string_view base) {
  constexpr std::array<Unit, 8> kPrefixes{{{"", 1},
                                           {"k", 1e3},
                                           {"M", 1e6},
                                           {"G", 1e9},
                                           {"T", 1e12},
                                           {"Ki", 1024.0},
                                           {"Mi", 1048576.0},
                                           {"Gi", 1073741824.0}}};
  if (!unit.ends_with(base)) {
    return std::nullopt;
  }
  unit.remove_suffix(base.size());
  for (const Unit& known : kPrefixes) {
    if (unit == known.name || (unit == "K" && known.name == "k")) {
      return known.factor;
    }
  }
  return std::nullopt;
}

/// Returns the value of the text in the base unit of `bases`; nothing if the text has another unit.
std::optional<double> value_in_base_unit(std::string_view text, std::span<const Unit> bases) {
  const auto quantity = split(text);
  if (!quantity) {
    return std::nullopt;
  }
  for (const Unit& base : bases) {
    if (const auto factor = prefix(quantity->unit, base.name)) {
      return quantity->number * *factor * base.factor;
    }
  }
  return std::nullopt;
}

[[noreturn]] void reject(std::string_view what, std::string_view text, std::string_view allowed) {
  throw UsageError(fmt::format("{} = '{}': {}", what, text, allowed));
}

/// Returns the value of the text in the base unit of `bases`. Throws UsageError unless it is above
/// 0 or, with `or_zero`, at least 0.
double checked_value_in_base_unit(std::string_view what, std::string_view text,
                                  std::span<const Unit> bases, bool or_zero,
                                  std::string_view allowed) {
  const auto value = value_in_base_unit(text, bases);
  if (!value || *value < 0 || (*value == 0 && !or_zero) || *value > kLargest) {
    reject(what, text, allowed);
  }
  return *value;
}

}  // namespace

double parse_rate(std::string_view what, std::string_view text) {
  constexpr std::array<Unit, 5> kBases{
      {{"bit/s", 0.125}, {"bit", 0.125}, {"bps", 0.125}, {"B/s", 1}, {"B", 1}}};
  return checked_value_in_base_unit(what, text, kBases, false,
                                    "must be a rate above 0, like 10Gbit or 12.5GB/s");
}

std::int64_t parse_duration_ps(std::string_view what, std::string_view text) {
  constexpr std::array<Unit, 5> kUnits{
      {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}}};
  const auto quantity = split(text);
  const auto unit =
      quantity ? std::ranges::find(kUnits, quantity->unit, &Unit::name) : kUnits.end();
  if (unit == kUnits.end() || quantity->number < 0 || quantity->number * unit->factor > kLargest) {
    reject(what, text, "must be a duration, not negative, in ps, ns, us, ms or s, like 50us");
  }
  return std::llround(quantity->number * unit->factor);
}

std::int64_t parse_bytes(std::string_view what, std::string_view text) {
  constexpr std::array<Unit, 1> kBases{{{"B", 1}}};
  return std::llround(checked_value_in_base_unit(
      what, text, kBases, true, "must be a size, not negative, like 4KiB or 1.5MB"));
}

double parse_flops(std::string_view what, std::string_view text) {
  constexpr std::array<Unit, 2> kBases{{{"FLOP/s", 1}, {"FLOPS", 1}}};
  return checked_value_in_base_unit(what, text, kBases, false, "must be above 0, like 13.4TFLOP/s");
}

}  // namespace paceline::cluster
