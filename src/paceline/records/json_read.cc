// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/records/fields.h"
#include "paceline/records/json.h"

namespace paceline::records {
namespace {

using detail::Traits;
using UnorderedJson = nlohmann::json;

// A value and the way to it, spelled out only when something is wrong there.
struct Place {
  const UnorderedJson& value;
  const Place* parent = nullptr;
  std::string_view key = {};
  std::size_t index = 0;

  std::string path() const {
    if (parent == nullptr) {
      return "";
    }
    const std::string above = parent->path();
    if (parent->value.is_array()) {
      return fmt::format("{}[{}]", above, index);
    }
    return fmt::format("{}{}{}", above, above.empty() ? "" : ".", shown(key));
  }

  [[noreturn]] void refuse(std::string_view expected) const {
    const std::string found =
        value.is_structured()
            ? std::string(value.is_array() ? "an array" : "an object")
            : shown(value.dump(
                  -1, ' ', true, UnorderedJson::error_handler_t::replace));
    const std::string where = path();
    throw UsageError(fmt::format("{}: expected {}, found {}",
                                 where.empty() ? "record" : where,
                                 expected,
                                 found));
  }
};

template <class T>
void decode(const Place& place, T& out);

template <std::integral T>
void decode_integer(const Place& place, T& out, std::uint64_t least) {
  constexpr auto kMost =
      static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  const UnorderedJson& value = place.value;
  const bool fits = value.is_number_unsigned() &&
                    value.get<std::uint64_t>() >= least &&
                    value.get<std::uint64_t>() <= kMost;
  // Values made in memory, not parsed, may be signed and yet fit.
  const bool fits_signed =
      !fits && value.is_number_integer() && !value.is_number_unsigned() &&
      value.get<std::int64_t>() >= static_cast<std::int64_t>(least) &&
      static_cast<std::uint64_t>(value.get<std::int64_t>()) <= kMost;
  if (!fits && !fits_signed) {
    place.refuse(fmt::format("an integer from {} to {}", least, kMost));
  }
  out = value.get<T>();
}

struct Decoder {
  const Place& here;
  std::set<std::string_view> known = {};

  const UnorderedJson& find(const char* key) {
    known.insert(key);
    const auto found = here.value.find(key);
    if (found == here.value.end()) {
      const std::string where = here.path();
      throw UsageError(fmt::format(
          "{}: key '{}' is missing", where.empty() ? "record" : where, key));
    }
    return *found;
  }

  template <class T>
  void operator()(const char* key, T& value) {
    decode(Place{find(key), &here, key}, value);
  }
  template <class T>
  void operator()(const char* key, detail::OrNull<T> field) {
    const UnorderedJson& json = find(key);
    field.value = T{};
    if (!json.is_null()) {
      decode(Place{json, &here, key}, field.value);
    }
  }
  template <class T>
  void operator()(const char* key, detail::IfAny<T> field) {
    known.insert(key);
    const auto found = here.value.find(key);
    field.value.reset();
    if (found != here.value.end()) {
      decode(Place{*found, &here, key}, field.value.emplace());
    }
  }
  template <class T>
  void operator()(const char* key, detail::Unless<T> field) {
    known.insert(key);
    const auto found = here.value.find(key);
    field.value = field.usual;
    if (found != here.value.end()) {
      decode(Place{*found, &here, key}, field.value);
    }
  }
  void operator()(const char* key, detail::Signed field) {
    const Place place{find(key), &here, key};
    if (!place.value.is_number_integer() ||
        (place.value.is_number_unsigned() &&
         place.value.get<std::uint64_t>() >
             static_cast<std::uint64_t>(
                 std::numeric_limits<std::int64_t>::max()))) {
      place.refuse("a 64-bit integer");
    }
    field.value = place.value.get<std::int64_t>();
  }
  template <class T>
  void operator()(const char* key, detail::Positive<T> field) {
    decode_integer(Place{find(key), &here, key}, field.value, 1);
  }

  void refuse_unknown_keys() const {
    for (const auto& [key, value] : here.value.items()) {
      if (!known.contains(key)) {
        const std::string where = here.path();
        throw UsageError(fmt::format("{}: unknown key '{}'; known: {}",
                                     where.empty() ? "record" : where,
                                     shown(key),
                                     fmt::join(known, ", ")));
      }
    }
  }
};

void decode_source(const Place& place, Source& out) {
  std::vector<std::string_view> names;
  for (const auto& [source, name] : detail::kSources) {
    if (place.value.is_string() &&
        place.value.get_ref<const std::string&>() == name) {
      out = source;
      return;
    }
    names.push_back(name);
  }
  place.refuse(fmt::format("one of {}", fmt::join(names, ", ")));
}

void decode_number(const Place& place, double& out) {
  if (!place.value.is_number() || !std::isfinite(place.value.get<double>())) {
    place.refuse("a number");
  }
  out = place.value.get<double>();
}

template <class T>
void decode_items(const Place& place, std::vector<T>& out) {
  if (!place.value.is_array()) {
    place.refuse("an array");
  }
  out.clear();
  out.reserve(place.value.size());
  for (const UnorderedJson& item : place.value) {
    const Place here{item, &place, "", out.size()};
    decode(here, out.emplace_back());
  }
}

template <class T>
void decode_entries(const Place& place, std::map<std::string, T>& out) {
  if (!place.value.is_object()) {
    place.refuse("an object");
  }
  out.clear();
  for (const auto& [key, item] : place.value.items()) {
    decode(Place{item, &place, key}, out[key]);
  }
}

template <class T>
void decode_fields(const Place& place, T& out) {
  if (!place.value.is_object()) {
    place.refuse("an object");
  }
  Decoder decoder{place};
  detail::visit_fields(decoder, out);
  decoder.refuse_unknown_keys();
}

template <class T>
void decode(const Place& place, T& out) {
  if constexpr (Traits<T>::kOptional) {
    out.reset();
    if (!place.value.is_null()) {
      decode(place, out.emplace());
    }
  } else if constexpr (Traits<T>::kVector) {
    decode_items(place, out);
  } else if constexpr (Traits<T>::kMap) {
    decode_entries(place, out);
  } else if constexpr (std::same_as<T, Source>) {
    decode_source(place, out);
  } else if constexpr (std::same_as<T, bool>) {
    if (!place.value.is_boolean()) {
      place.refuse("true or false");
    }
    out = place.value.get<bool>();
  } else if constexpr (std::integral<T>) {
    decode_integer(place, out, 0);
  } else if constexpr (std::floating_point<T>) {
    decode_number(place, out);
  } else if constexpr (std::same_as<T, std::string>) {
    if (!place.value.is_string()) {
      place.refuse("a string");
    }
    out = place.value.get<std::string>();
  } else {
    decode_fields(place, out);
  }
}

// Version first: of a newer record no other key is understood.
void check_version(const UnorderedJson& json) {
  const Place root{json};
  if (!json.is_object()) {
    root.refuse("an object");
  }
  const auto kind = json.find("kind");
  if (kind != json.end() && *kind == "comm") {
    throw UsageError(
        "kind: 'comm' is a record of one operation, as `paceline comm` and "
        "`paceline import` of nccl-tests write it and show it, not of a "
        "training run");
  }
  int version = 0;
  Decoder decoder{root};
  decoder("version", detail::positive(version));
  if (version > RunRecord::kVersion) {
    throw UsageError(
        fmt::format("version: {} is newer than this program reads (up to {}); "
                    "use the paceline that wrote it, or a newer one",
                    version,
                    RunRecord::kVersion));
  }
}

// Sample k of every rank belongs to step k, so the ranks must agree; a rank
// without any took no part.
void check_step_counts(const RunRecord& record,
                       std::vector<std::int64_t> RankSamples::*samples,
                       std::string_view key) {
  const RankSamples* first = nullptr;
  for (const RankSamples& rank : record.ranks) {
    const std::size_t count = (rank.*samples).size();
    if (first == nullptr && count > 0) {
      first = &rank;
    }
    if (count > 0 && count != (first->*samples).size()) {
      throw UsageError(
          fmt::format("ranks: rank {} has {} values of {}, rank {} has {}",
                      rank.rank,
                      count,
                      key,
                      first->rank,
                      (first->*samples).size()));
    }
  }
}

// A step with communication, one without and their pair belong together, and
// pairs follow each other.
void check_pairs(const RankSamples& rank) {
  const auto refuse = [&rank](const std::string& why) {
    throw UsageError(fmt::format("ranks: rank {} {}", rank.rank, why));
  };
  if (rank.paired_step_ns.size() != rank.pair_of_step.size()) {
    refuse(fmt::format("has {} values of pair_of_step and {} of paired_step_ns",
                       rank.pair_of_step.size(),
                       rank.paired_step_ns.size()));
  }
  if (!rank.pair_of_step.empty() &&
      rank.compute_only_step_ns.size() != rank.pair_of_step.size()) {
    refuse(fmt::format(
        "has {} values of pair_of_step and {} of compute_only_step_ns",
        rank.pair_of_step.size(),
        rank.compute_only_step_ns.size()));
  }
  if (!std::ranges::is_sorted(rank.pair_of_step)) {
    refuse("has pair_of_step out of order");
  }
}

}  // namespace

RunRecord from_json(const UnorderedJson& json) {
  check_version(json);
  RunRecord record;
  decode(Place{json}, record);
  check_step_counts(record, &RankSamples::step_ns, "step_ns");
  check_step_counts(
      record, &RankSamples::compute_only_step_ns, "compute_only_step_ns");
  check_step_counts(record, &RankSamples::paired_step_ns, "paired_step_ns");
  std::ranges::for_each(record.ranks, check_pairs);
  return record;
}

RunRecord from_line(std::string_view line) {
  if (line.find('\0') != std::string_view::npos) {
    throw UsageError("not JSON: it holds a NUL byte");  // which ends a parse
  }
  UnorderedJson json;
  try {
    json = UnorderedJson::parse(line);
  } catch (const UnorderedJson::exception& error) {
    throw UsageError(not_json(line, error.what()));
  }
  return from_json(json);
}

}  // namespace paceline::records
