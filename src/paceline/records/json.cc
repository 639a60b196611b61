// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/json.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/case/json.h"
#include "paceline/records/comm_record.h"
#include "paceline/records/fields.h"

namespace paceline::records {
namespace {

using detail::Traits;
using OrderedJson = nlohmann::ordered_json;

template <class T>
OrderedJson encode(const T& value);

struct Encoder {
  OrderedJson out = OrderedJson::object();

  template <class T>
  void operator()(const char* key, const T& value) {
    out[key] = encode(value);
  }
  /// Adds a field of a kind that matters only for reading.
  template <class Kind>
  requires requires(Kind kind) { kind.value; }
  void operator()(const char* key, const Kind& field) { out[key] = encode(field.value); }
  template <class T>
  void operator()(const char* key, detail::OrNull<T> field) {
    const bool known = field.value != std::remove_const_t<T>{};
    out[key] = known ? encode(field.value) : OrderedJson(nullptr);
  }
  template <class T>
  void operator()(const char* key, detail::OmittedIf<T> field) {
    if (field.value != field.default_value) {
      out[key] = encode(field.value);
    }
  }
  template <class Make>
  void operator()(const char* key, detail::WrittenOnly<Make> field) {
    out[key] = field.make();
  }
};

template <class T>
OrderedJson encode(const T& value) {
  if constexpr (Traits<T>::kOptional) {
    return value ? encode(*value) : OrderedJson(nullptr);
  } else if constexpr (Traits<T>::kVector) {
    OrderedJson out = OrderedJson::array();
    for (const auto& item : value) {
      out.push_back(encode(item));
    }
    return out;
  } else if constexpr (Traits<T>::kMap) {
    OrderedJson out = OrderedJson::object();
    for (const auto& [key, item] : value) {
      out[key] = encode(item);
    }
    return out;
  } else if constexpr (std::same_as<T, Source>) {
    return name_of(value);
  } else if constexpr (std::same_as<T, cases::Case>) {
    return cases::to_json(value);
  } else if constexpr (std::is_class_v<T> && !std::same_as<T, std::string>) {
    Encoder encoder;
    detail::visit_fields(encoder, value);
    return std::move(encoder.out);
  } else {
    return value;
  }
}

}  // namespace

std::string_view name_of(Source source) {
  const auto* found = std::find_if(detail::kSources.begin(), detail::kSources.end(),
                                   [&](const auto& named) { return named.first == source; });
  PACELINE_CHECK(found != detail::kSources.end());
  return found->second;
}

OrderedJson to_json(const RunRecord& record) { return encode(record); }

OrderedJson to_json(CommRecord record, const Environment& environment) {
  record.environment = environment;
  return encode(record);
}

OrderedJson to_json(const Environment& environment) { return encode(environment); }

OrderedJson to_json(const std::vector<Warning>& warnings) { return encode(warnings); }

std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_line(const RunRecord& record) { return to_line(to_json(record)); }

}  // namespace paceline::records
