// SPDX-License-Identifier: Apache-2.0
#include "paceline/experiment/key.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/experiment/env_values.h"
#include "paceline/experiment/legacy_names.h"

namespace paceline::experiment {
namespace {

template <class Member>
struct MemberOf;
template <class Value_, class Owner_>
struct MemberOf<Value_ Owner_::*> {
  using Value = Value_;
  using Owner = Owner_;
};
template <class Member>
using ValueOf = typename MemberOf<std::decay_t<Member>>::Value;
template <class Member>
using OwnerOf = typename MemberOf<std::decay_t<Member>>::Owner;

using Variables = std::map<std::string, std::string>;

bool in_range(const Key& key, double value) {
  return std::isfinite(value) && value >= key.minimum && value <= key.maximum;
}

[[noreturn]] void refuse(const Key& key,
                         const std::string& text,
                         const std::string& where) {
  std::string sentence =
      fmt::format("{}: '{}' is not {}", where, text, allowed_text(key));
  const std::vector<std::string> allowed(key.allowed.begin(),
                                         key.allowed.end());
  if (const auto near = nearest_name(text, allowed)) {
    sentence += fmt::format("; did you mean '{}'?", *near);
  }
  throw UsageError(sentence);
}

template <class Number>
Number numeric(const Key& key,
               const std::string& text,
               const std::string& where) {
  const auto value = number_from<Number>(text);
  const bool digits = !text.empty() && std::ranges::all_of(text, [](char c) {
    return c >= '0' && c <= '9';
  });
  if (!value && digits) {
    throw UsageError(
        fmt::format("{}: '{}' is more than {}, the most there can "
                    "be",
                    where,
                    text,
                    std::numeric_limits<Number>::max()));
  }
  if (!value || !in_range(key, static_cast<double>(*value))) {
    refuse(key, text, where);
  }
  return *value;
}

std::vector<int> counts(const Key& key,
                        const std::string& text,
                        const std::string& where) {
  std::vector<int> result;
  if (text.empty()) {
    return result;
  }
  for (const std::string& part : split_at(text, '+')) {
    const auto value = number_from<int>(part);
    if (!value || !in_range(key, *value)) {
      refuse(key, text, where);
    }
    result.push_back(*value);
  }
  return result;
}

template <class Value>
Value value_from(const Key& key,
                 const std::string& text,
                 const std::string& where) {
  if constexpr (std::is_same_v<Value, std::string>) {
    const bool is_default = text.empty() && default_text(key).empty();
    if (!key.allowed.empty() && !is_default &&
        std::ranges::find(key.allowed, text) == key.allowed.end()) {
      refuse(key, text, where);
    }
    return text;
  } else if constexpr (std::is_same_v<Value, bool>) {
    if (text != "true" && text != "false") {
      refuse(key, text, where);
    }
    return text == "true";
  } else if constexpr (std::is_same_v<Value, std::vector<int>>) {
    return counts(key, text, where);
  } else if constexpr (std::is_same_v<Value, Variables>) {
    return env_from(text, where);
  } else {
    return numeric<Value>(key, text, where);
  }
}

std::string range_text(const Key& key, std::string_view noun) {
  if (std::isfinite(key.maximum)) {
    return fmt::format("{} from {} to {}", noun, key.minimum, key.maximum);
  }
  return fmt::format("{} of at least {}", noun, key.minimum);
}

}  // namespace

const Key* find_key(std::string_view name) {
  const auto all = keys();
  const auto found = std::ranges::find(all, name, &Key::name);
  return found == all.end() ? nullptr : &*found;
}

std::string flag_of(const Key& key) {
  std::string flag = "--" + std::string(key.name);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

bool is_case_key(const Key& key) {
  return std::visit(
      [](auto member) {
        return std::is_same_v<OwnerOf<decltype(member)>,
                              records::Configuration>;
      },
      key.field);
}

bool is_switch(const Key& key) {
  return std::visit(
      [](auto member) {
        return std::is_same_v<ValueOf<decltype(member)>, bool>;
      },
      key.field);
}

std::string_view title_of(Group group) {
  switch (group) {
    case Group::kModel:
      return "Model and data";
    case Group::kEmbeddings:
      return "Embedding tables";
    case Group::kExchange:
      return "Ranks and exchange";
    case Group::kMachine:
      return "Device and engine";
    case Group::kMeasuring:
      return "Experiment and measuring";
    case Group::kTraining:
      return "Training";
    case Group::kOutside:
      return "Frameworks and commands";
    case Group::kOutput:
      return "Output";
    case Group::kLaunch:
      return "Launch";
  }
  return {};
}

template <class Owner>
void assign_key(const Key& key,
                const std::string& text,
                const std::string& where,
                Owner& to) {
  std::visit(
      [&](auto member) {
        if constexpr (std::is_same_v<OwnerOf<decltype(member)>, Owner>) {
          to.*member = value_from<ValueOf<decltype(member)>>(key, text, where);
        } else {
          const bool key_of_this_owner = false;
          PACELINE_CHECK(key_of_this_owner);
        }
      },
      key.field);
}

template <class Owner>
std::string read_key(const Key& key, const Owner& from) {
  return std::visit(
      [&](auto member) -> std::string {
        if constexpr (std::is_same_v<OwnerOf<decltype(member)>, Owner>) {
          if constexpr (std::is_same_v<ValueOf<decltype(member)>,
                                       std::vector<int>>) {
            return fmt::format("{}", fmt::join(from.*member, "+"));
          } else if constexpr (std::is_same_v<ValueOf<decltype(member)>,
                                              Variables>) {
            return env_text(from.*member);
          } else {
            return fmt::format("{}", from.*member);
          }
        } else {
          const bool key_of_this_owner = false;
          PACELINE_CHECK(key_of_this_owner);
          return {};
        }
      },
      key.field);
}

std::string default_text(const Key& key) {
  if (!key.fallback.empty()) {
    return std::string(key.fallback);
  }
  return is_case_key(key) ? read_key(key, records::Configuration{})
                          : read_key(key, Settings{});
}

std::string allowed_text(const Key& key) {
  return std::visit(
      [&](auto member) -> std::string {
        using Value = ValueOf<decltype(member)>;
        if constexpr (std::is_same_v<Value, std::string>) {
          return key.allowed.empty()
                     ? "text"
                     : fmt::format("one of {}", fmt::join(key.allowed, ", "));
        } else if constexpr (std::is_same_v<Value, bool>) {
          return "true or false";
        } else if constexpr (std::is_same_v<Value, std::vector<int>>) {
          return "ranks of each host joined by +, as 4+4, or one number";
        } else if constexpr (std::is_same_v<Value, Variables>) {
          return "NAME=VALUE";
        } else if constexpr (std::is_same_v<Value, double>) {
          return range_text(key, "a number");
        } else {
          const std::string number = range_text(key, "a whole number");
          return key.words.empty()
                     ? number
                     : fmt::format("{} or one of {}", number, key.words);
        }
      },
      key.field);
}

template std::string read_key(const Key&, const records::Configuration&);
template std::string read_key(const Key&, const Settings&);
template void assign_key(const Key&,
                         const std::string&,
                         const std::string&,
                         records::Configuration&);
template void assign_key(const Key&,
                         const std::string&,
                         const std::string&,
                         Settings&);

std::string unknown_key(const std::string& name, bool with_tables) {
  std::vector<std::string> known;
  for (const Key& key : keys()) {
    if (key.in_file) {
      known.emplace_back(key.name);
    }
  }
  if (with_tables) {
    known.insert(known.end(), {"case", "sweep"});
  }
  const LegacyName* legacy = find_legacy_name(name);
  return legacy == nullptr
             ? unknown_name("key", name, known)
             : fmt::format("unknown key '{}'; here it is '{}'{}{}. Known: {}",
                           name,
                           legacy->key,
                           legacy->counts.empty() ? "" : ", which counts ",
                           legacy->counts,
                           fmt::join(known, ", "));
}

std::vector<std::string> all_flags() {
  std::vector<std::string> flags;
  for (const Key& key : keys()) {
    flags.push_back(flag_of(key));
  }
  return flags;
}

}  // namespace paceline::experiment
