// SPDX-License-Identifier: Apache-2.0
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
#include "paceline/base/json_place.h"
#include "paceline/case/json.h"
#include "paceline/records/fields.h"
#include "paceline/records/json.h"

namespace paceline::records {
namespace {

using detail::Traits;

template <class T>
void decode(const JsonNode& place, T& out);

template <std::integral T>
void decode_integer(const JsonNode& place, T& out, std::uint64_t least) {
  out = static_cast<T>(place.integer(least, std::numeric_limits<T>::max()));
}

struct Decoder {
  const JsonNode& here;
  std::set<std::string_view> known = {};

  JsonNode at(const char* key) {
    known.insert(key);
    return here.at(key);
  }
  std::optional<JsonNode> find(const char* key) {
    known.insert(key);
    return here.find(key);
  }

  template <class T>
  void operator()(const char* key, T& value) {
    decode(at(key), value);
  }
  template <class T>
  void operator()(const char* key, detail::OrNull<T> field) {
    const JsonNode place = at(key);
    field.value = T{};
    if (!place.value.is_null()) {
      decode(place, field.value);
    }
  }
  template <class T>
  void operator()(const char* key, detail::OmittedIf<T> field) {
    field.value = field.default_value;
    const auto place = find(key);
    if constexpr (Traits<T>::kOptional) {
      if (place) {
        decode(*place, field.value.emplace());  // a key with the value null is rejected
      }
    } else if (place) {
      decode(*place, field.value);
    }
  }
  template <class T>
  void operator()(const char* key, detail::RenamedFrom<T> field) {
    const auto place = find(field.before);
    decode(place ? *place : at(key), field.value);
  }
  template <class T>
  void operator()(const char* key, detail::AnySign<T> field) {
    const JsonNode place = at(key);
    if (Traits<T>::kOptional && place.value.is_null()) {
      field.value = T{};
      return;
    }
    if (!place.value.is_number_integer() ||
        (place.value.is_number_unsigned() &&
         place.value.template get<std::int64_t>() < 0)) {  // above INT64_MAX
      place.reject("a 64-bit integer");
    }
    field.value = place.value.template get<std::int64_t>();
  }
  template <class Make>
  void operator()(const char* key, detail::WrittenOnly<Make> /*field*/) {
    at(key);
  }
  template <class T>
  void operator()(const char* key, detail::Positive<T> field) {
    decode_integer(at(key), field.value, 1);
  }
};

void decode_source(const JsonNode& place, Source& out) {
  std::vector<std::string_view> names;
  for (const auto& [source, name] : detail::kSources) {
    if (place.value.is_string() && place.value.get_ref<const std::string&>() == name) {
      out = source;
      return;
    }
    names.push_back(name);
  }
  place.reject(fmt::format("one of {}", fmt::join(names, ", ")));
}

template <class T>
void decode_items(const JsonNode& place, std::vector<T>& out) {
  out.clear();
  out.reserve(place.value.size());
  place.each([&out](const JsonNode& item) { decode(item, out.emplace_back()); });
}

template <class T>
void decode_entries(const JsonNode& place, std::map<std::string, T>& out) {
  place.check_object();
  out.clear();
  for (const auto& [key, item] : place.value.items()) {
    decode(JsonNode{item, &place, key}, out[key]);
  }
}

template <class T>
void decode_fields(const JsonNode& place, T& out) {
  Decoder decoder{place};
  detail::visit_fields(decoder, out);
  place.check_keys(decoder.known);
}

template <class T>
void decode(const JsonNode& place, T& out) {
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
  } else if constexpr (std::same_as<T, cases::Case>) {
    out = cases::from_json(place);
  } else if constexpr (std::same_as<T, bool>) {
    out = place.boolean();
  } else if constexpr (std::integral<T>) {
    decode_integer(place, out, 0);
  } else if constexpr (std::same_as<T, double>) {
    out = place.number();
  } else if constexpr (std::same_as<T, std::string>) {
    out = place.text();
  } else {
    decode_fields(place, out);
  }
}

// Checks the version before all other keys, since those of a newer record are not understood.
void check_version(const JsonNode& root) {
  const auto kind = root.find("kind");
  if (kind && kind->value == "comm") {
    throw UsageError(
        "kind: 'comm' is a record of one operation, as `paceline comm` and `paceline import` of "
        "nccl-tests write it and show it, not of a training run");
  }
  int version = 0;
  decode_integer(root.at("version"), version, 1);
  if (version > RunRecord::kVersion) {
    throw UsageError(
        fmt::format("version: {} is newer than this program reads (up to {}); use the paceline "
                    "that wrote it, or a newer one",
                    version, RunRecord::kVersion));
  }
}

// Sample k of every rank belongs to step k, so that the ranks must have equally many.  A rank
// without samples took no part.
void check_step_counts(const RunRecord& record, std::vector<std::int64_t> RankSamples::*samples,
                       std::string_view key) {
  const RankSamples* first = nullptr;
  for (const RankSamples& rank : record.ranks) {
    const std::size_t count = (rank.*samples).size();
    if (first == nullptr && count > 0) {
      first = &rank;
    }
    if (count > 0 && count != (first->*samples).size()) {
      throw UsageError(fmt::format("ranks: rank {} has {} values of {}, rank {} has {}", rank.rank,
                                   count, key, first->rank, (first->*samples).size()));
    }
  }
}

// Elements k of paired_step_ns, compute_only_step_ns and pair_of_step belong together; the pairs
// must be in order.
void check_pairs(const RankSamples& rank) {
  const auto reject = [&rank](const std::string& why) {
    throw UsageError(fmt::format("ranks: rank {} {}", rank.rank, why));
  };
  if (rank.paired_step_ns.size() != rank.pair_of_step.size()) {
    reject(fmt::format("has {} values of pair_of_step and {} of paired_step_ns",
                       rank.pair_of_step.size(), rank.paired_step_ns.size()));
  }
  if (!rank.pair_of_step.empty() && rank.compute_only_step_ns.size() != rank.pair_of_step.size()) {
    reject(fmt::format("has {} values of pair_of_step and {} of compute_only_step_ns",
                       rank.pair_of_step.size(), rank.compute_only_step_ns.size()));
  }
  if (!std::ranges::is_sorted(rank.pair_of_step)) {
    reject("has pair_of_step out of order");
  }
}

// Removes the option first-key=0 of parameter servers, which older records have.  The option no
// longer exists, and all parameter servers behave as with the value 0.
void drop_first_key(std::string& strategy) {
  constexpr std::string_view kOption = ",first-key=0";
  const std::size_t begin = strategy.find(kOption);
  const std::size_t end = begin + kOption.size();
  if (begin != std::string::npos &&
      (end == strategy.size() || strategy[end] == ',' || strategy[end] == '+')) {
    strategy.erase(begin, kOption.size());
  }
}

// Adds as unknown what the records of operations of earlier versions lack.
void add_missing_keys(nlohmann::json& operation) {
  for (const char* key : {"op", "root", "place", "clock", "mean_of", "formula", "in_place"}) {
    operation.emplace(key, nullptr);
  }
  if (operation.emplace("environment", nullptr).first->is_null()) {
    operation["environment"] = to_json(Environment());
  }
}

}  // namespace

RunRecord from_json(const nlohmann::json& json) {
  const JsonNode root{json, nullptr, "record"};
  check_version(root);
  RunRecord record;
  decode(root, record);
  drop_first_key(record.configuration.strategy);
  check_step_counts(record, &RankSamples::step_ns, "step_ns");
  check_step_counts(record, &RankSamples::compute_only_step_ns, "compute_only_step_ns");
  check_step_counts(record, &RankSamples::paired_step_ns, "paired_step_ns");
  std::ranges::for_each(record.ranks, check_pairs);
  return record;
}

CommRecord comm_record_from(nlohmann::json json) {
  if (!json.is_object() || json.value("kind", nlohmann::json()) != "comm" ||
      json.value("version", nlohmann::json()) != CommRecord::kVersion) {
    throw UsageError(fmt::format("must be a record of an operation (kind 'comm', version {})",
                                 CommRecord::kVersion));
  }
  add_missing_keys(json);
  const JsonNode root{json, nullptr, "record"};
  CommRecord record;
  decode(root, record);
  const JsonNode rates = root.at("bytes_per_s");
  const JsonNode line = rates.at("line");
  if (!line.value.is_null()) {
    record.line_bytes_per_s = line.number();
  }
  return record;
}

CommRecord comm_record_from_line(std::string_view line) {
  return comm_record_from(parse_json(line));
}

RunRecord from_line(std::string_view line) {
  if (line.find('\0') != std::string_view::npos) {
    throw UsageError("not JSON: it holds a NUL byte");  // it would end the parse
  }
  return from_json(parse_json(line));
}

}  // namespace paceline::records
