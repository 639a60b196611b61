// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/given_words.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string_view>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"

namespace paceline::cli {
namespace {

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

/// "8", "8,16", "0.5".
bool is_numbers(const std::string& word) {
  return !word.empty() &&
         word.find_first_not_of("0123456789.,") == std::string::npos;
}

void refuse_empty(const CLI::Option& option, const std::string& value) {
  if (value.empty()) {
    throw UsageError(fmt::format("{}: is empty; leave it out, or give a value",
                                 option.get_name()));
  }
  const char comma = option.get_delimiter();
  if (comma != '\0' && (value.front() == comma || value.back() == comma ||
                        value.find({comma, comma}) != std::string::npos)) {
    throw UsageError(fmt::format(
        "{}: '{}' has an empty value beside a comma; leave the comma out, or "
        "give a value",
        option.get_name(),
        value));
  }
}

bool is_whole(std::string_view word) {
  const std::size_t sign = word.starts_with('-') || word.starts_with('+');
  return word.size() > sign &&
         word.find_first_not_of("0123456789", sign) == std::string_view::npos;
}

/// What is wrong with a value that was to be a number.
std::string_view why_no_number(const std::string& value) {
  if (is_whole(value)) {
    return value.starts_with('-') ? "must be 0 or more" : "is too large";
  }
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  return value.empty() || *end != '\0' || !std::isfinite(number)
             ? "must be a number"
             : "must be a whole number, in digits alone";
}

/// The same of a list: of its first value that no option takes.
std::string why_no_numbers(const std::string& list) {
  constexpr std::size_t kDigits = 9;  // any number of so many fits
  if (list.find(',') == std::string::npos) {
    return std::string(why_no_number(list));
  }
  std::string value;
  for (std::istringstream values(list); std::getline(values, value, ',');) {
    if (!is_whole(value) || value.starts_with('-') || value.size() > kDigits) {
      return fmt::format("'{}' {}", value, why_no_number(value));
    }
  }
  return "must be numbers";
}

}  // namespace

void refuse_empty_values(const CLI::App& command,
                         const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& word = arguments[i];
    const std::size_t equals = word.find('=');
    const CLI::Option* option =
        word.starts_with("-")
            ? command.get_option_no_throw(word.substr(0, equals))
            : nullptr;
    if (option == nullptr || !takes_value(*option)) {
      continue;
    }
    if (equals != std::string::npos) {
      refuse_empty(*option, word.substr(equals + 1));
    } else if (i + 1 < arguments.size()) {
      refuse_empty(*option, arguments[++i]);
    }
  }
}

void refuse_split_lists(const CLI::App& command,
                        const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i + 2 < arguments.size() && arguments[i] != "--";
       ++i) {
    const CLI::Option* option = arguments[i].starts_with("-")
                                    ? command.get_option_no_throw(arguments[i])
                                    : nullptr;
    if (option == nullptr || option->get_delimiter() == '\0') {
      continue;
    }
    std::size_t end = i + 1;
    while (end < arguments.size() && is_numbers(arguments[end])) {
      ++end;
    }
    if (end > i + 2) {
      const std::vector<std::string> words(
          arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
          arguments.begin() + static_cast<std::ptrdiff_t>(end));
      throw UsageError(
          fmt::format("{0} {1}: a list has commas and no blanks: {0} {2}",
                      option->get_name(),
                      fmt::join(words, " "),
                      fmt::join(words, ",")));
    }
  }
}

std::string refusal_of_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  return stop == end && error == std::errc{}
             ? ""
             : fmt::format("{}: must be a whole number from 0 to {}",
                           text,
                           std::numeric_limits<std::uint64_t>::max());
}

std::string as_given(const CLI::Option& option) {
  return fmt::format(
      "{} {}", option.get_name(), fmt::join(option.results(), ","));
}

std::string sentence_of(const CLI::ParseError& error) {
  const std::string text = error.what();
  constexpr std::string_view kConversion = "Could not convert: ";
  const std::size_t equals = text.find(" = ");
  if (text.starts_with(kConversion) && equals != std::string::npos) {
    const std::string value = text.substr(equals + 3);
    return fmt::format(
        "{} {}: {}",
        text.substr(kConversion.size(), equals - kConversion.size()),
        value,
        why_no_numbers(value));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) {
    return text;
  }
  const std::string name = text.substr(0, text.find(':'));
  if (text.ends_with(" missing")) {
    return name + ": its value is missing";
  }
  constexpr std::string_view kReceived = " required but received ";
  const std::size_t received = text.find(kReceived);
  if (text.find("At Most 1") == std::string::npos ||
      received == std::string::npos) {
    return text;
  }
  const std::string times = text.substr(received + kReceived.size());
  return fmt::format("{}: is given {}; give it once",
                     name,
                     times == "2" ? "twice" : times + " times");
}

}  // namespace paceline::cli
