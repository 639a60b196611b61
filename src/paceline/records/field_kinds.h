// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "paceline/records/run_record.h"

namespace paceline::records::detail {

inline constexpr auto kSources = std::to_array<std::pair<Source, std::string_view>>({
    {Source::kMeasured, "measured"},
    {Source::kReplayed, "replayed"},
    {Source::kPredicted, "predicted"},
    {Source::kImported, "imported"},
    {Source::kExternal, "external"},
});

// Whether a field's type is a vector, a map or an optional.
template <class T>
struct Traits {
  static constexpr bool kVector = false, kMap = false, kOptional = false;
};
template <class T>
struct Traits<std::vector<T>> : Traits<void> {
  static constexpr bool kVector = true;
};
template <class T>
struct Traits<std::map<std::string, T>> : Traits<void> {
  static constexpr bool kMap = true;
};
template <class T>
struct Traits<std::optional<T>> : Traits<void> {
  static constexpr bool kOptional = true;
};

/// A field whose default (0, "" or empty) means "not known", which is null in JSON.
template <class T>
struct OrNull {
  T& value;
};
template <class T>
OrNull<T> or_null(T& value) {
  return {value};
}

/// An integer of at least 1; every other integer is at least 0.
template <class T>
struct Positive {
  T& value;
};
template <class T>
Positive<T> positive(T& value) {
  return {value};
}

/// An integer, or an optional one, that may be negative.
template <class T>
struct AnySign {
  T& value;
};
template <class T>
AnySign<T> any_sign(T& value) {
  return {value};
}

/// A key whose value `make` returns when the record is written.  The key is skipped when it is
/// read.
template <class Make>
struct WrittenOnly {
  Make make;
};
template <class Make>
WrittenOnly<Make> written_only(Make make) {
  return {make};
}

/// A field whose key is omitted if its value is `default_value`, which for an optional is none.  A
/// missing key, as in older records, means `default_value`.
template <class T>
struct OmittedIf {
  T& value;
  std::remove_const_t<T> default_value;
};
template <class T>
OmittedIf<T> omitted_if(const std::remove_const_t<T>& default_value, T& value) {
  return {value, default_value};
}

/// A field that older records have under the key `before`.
template <class T>
struct RenamedFrom {
  T& value;
  const char* before;
};
template <class T>
RenamedFrom<T> renamed_from(const char* before, T& value) {
  return {value, before};
}

}  // namespace paceline::records::detail
