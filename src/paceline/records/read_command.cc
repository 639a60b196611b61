// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/read_command.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/shell.h"
#include "paceline/base/text.h"
#include "paceline/records/fields.h"

namespace paceline::records {
namespace {

// Flags that are called otherwise than the keys of a record.
constexpr auto kOtherNames =
    std::to_array<std::pair<std::string_view, std::string_view>>(
        {{"bucket_mb", "bucket_mib"}, {"warmup", "warmup_steps"}});

/// "bucket_mib" of "--bucket-mb"; empty where it is no flag.
std::string key_of_flag(std::string_view flag) {
  if (!flag.starts_with("--")) {
    return "";
  }
  std::string key(flag.substr(2));
  std::ranges::replace(key, '-', '_');
  for (const auto& [ours, name] : kOtherNames) {
    if (key == ours) {
      return std::string(name);
    }
  }
  return key;
}

/// Reads one flag into the field of its key.
class FlagReader {
 public:
  FlagReader(std::span<const std::string> words, const std::string& where)
      : words_(words), where_(where), key_(key_of_flag(words.front())) {}

  template <class T>
  void operator()(const char* key, T& field) {
    if (key_ == key) {
      known_ = true;
      assign(field);
    }
  }
  template <class T, class Keys>
  void operator()(const char* key, detail::Stated<T, Keys> field) {
    (*this)(key, field.value);
  }
  template <class T>
  void operator()(const char* key, detail::Unless<T> field) {
    (*this)(key, field.value);
  }
  template <class T>
  void operator()(const char* key, detail::Positive<T> field) {
    (*this)(key, field.value);
  }
  template <class T>
  void operator()(const char* key, detail::OrNull<T> field) {
    (*this)(key, field.value);
  }

  /// How many words were read.
  std::size_t read() const {
    if (!known_) {
      throw UsageError(
          fmt::format("{}'{}' is no flag of a case", where_, words_.front()));
    }
    return used_;
  }

 private:
  const std::string& value() {
    if (words_.size() < 2) {
      throw UsageError(
          fmt::format("{}{} has no value", where_, words_.front()));
    }
    used_ = 2;
    return words_[1];
  }

  template <class Number>
  Number number(std::string_view text) const {
    const auto found = number_from<Number>(text);
    if (!found) {
      throw UsageError(fmt::format(
          "{}{} '{}' is no number of that kind", where_, words_.front(), text));
    }
    return *found;
  }

  void assign(bool& field) { field = true; }
  void assign(std::string& field) { field = value(); }
  template <class Number>
  void assign(Number& field) {
    field = number<Number>(value());
  }
  void assign(std::vector<int>& field) {
    field.clear();
    for (const std::string& part : split_at(value(), '+')) {
      field.push_back(number<int>(part));
    }
  }
  void assign(std::map<std::string, std::string>& field) {
    const std::string& text = value();
    const std::size_t equals = std::min(text.find('='), text.size());
    field[text.substr(0, equals)] =
        equals < text.size() ? text.substr(equals + 1) : "";
  }

  std::span<const std::string> words_;
  const std::string& where_;
  std::string key_;
  bool known_ = false;
  std::size_t used_ = 1;
};

}  // namespace

void read_command(std::string_view command,
                  const std::string& where,
                  Configuration& configuration) {
  const std::vector<std::string> words = shell_words(command);
  std::span<const std::string> rest(words);
  rest = rest.subspan(std::min<std::size_t>(2, rest.size()));
  while (!rest.empty()) {
    FlagReader flag(rest, where);
    detail::visit_fields(flag, configuration);
    rest = rest.subspan(flag.read());
  }
}

}  // namespace paceline::records
