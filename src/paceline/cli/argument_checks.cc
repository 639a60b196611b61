// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/argument_checks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"

namespace paceline::cli {
namespace {

void reject_empty(const CLI::Option& option, const std::string& value) {
  if (value.empty()) {
    throw UsageError(fmt::format("{}: is empty; leave it out, or give a value", option.get_name()));
  }
  const char comma = option.get_delimiter();
  if (comma != '\0' && (value.front() == comma || value.back() == comma ||
                        value.find({comma, comma}) != std::string::npos)) {
    throw UsageError(fmt::format(
        "{}: '{}' has an empty value beside a comma; leave the comma out, or give a value",
        option.get_name(), value));
  }
}

template <class Number>
ArgumentCheck check_of(std::string_view kind, Number least, Number most) {
  return [=](const std::string& text) {
    const auto number = number_from<Number>(text);
    if (number && *number >= least && *number <= most) {
      return std::string();
    }
    return most < std::numeric_limits<Number>::max()
               ? fmt::format("{}: must be {} from {} to {}", text, kind, least, most)
               : fmt::format("{}: must be {} of at least {}", text, kind, least);
  };
}

}  // namespace

void for_each_flag(const CLI::App& command, const std::vector<std::string>& arguments,
                   const std::function<void(const GivenFlag&)>& visit) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& word = arguments[i];
    if (!word.starts_with("-") || word == "-") {
      continue;
    }
    const std::size_t equals = word.find('=');
    GivenFlag given{.name = word.substr(0, equals)};
    given.option = command.get_option_no_throw(given.name);
    const bool takes_value = given.option == nullptr || given.option->get_items_expected_max() > 0;
    const bool next_is_value =
        i + 1 < arguments.size() && (given.option != nullptr || !arguments[i + 1].starts_with("-"));
    if (equals != std::string::npos) {
      given.value = word.substr(equals + 1);
    } else if (takes_value && next_is_value) {
      given.value = arguments[i + 1];
      i += given.option != nullptr ? 1 : 0;
    }
    visit(given);
  }
}

void reject_empty_values(const CLI::App& command, const std::vector<std::string>& arguments) {
  for_each_flag(command, arguments, [](const GivenFlag& given) {
    if (given.option != nullptr && given.value && given.option->get_items_expected_max() > 0) {
      reject_empty(*given.option, *given.value);
    }
  });
}

ArgumentCheck number_in(double least, double most) {
  return check_of<double>("a number", least, most);
}

ArgumentCheck whole_number_in(int least, int most) {
  return check_of<int>("a whole number", least, most);
}

ArgumentCheck one_of(std::string kind, std::vector<std::string> names) {
  return [kind = std::move(kind), names = std::move(names)](const std::string& text) {
    return std::ranges::find(names, text) == names.end() ? unknown_name(kind, text, names)
                                                         : std::string();
  };
}

void add_format_flag(CLI::App& app, std::string& format, const std::vector<std::string>& names) {
  app.add_option("--format", format,
                 fmt::format("what is printed: {} [{}]", fmt::join(names, ", "), format))
      ->type_name("NAME")
      ->check(one_of("format", names));
}

ArgumentCheck seed_in_64_bits() {
  return [](const std::string& text) {
    return number_from<std::uint64_t>(text)
               ? std::string()
               : fmt::format("{}: must be a whole number from 0 to {}", text,
                             std::numeric_limits<std::uint64_t>::max());
  };
}

std::string sentence_of(const CLI::ParseError& error) {
  std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) {
    return text;
  }
  const std::string name = text.substr(0, text.find(':'));
  if (text.ends_with(" missing")) {
    return name + ": its value is missing";
  }
  constexpr std::string_view kReceived = " required but received ";
  const std::size_t received = text.find(kReceived);
  if (text.find("At Most 1") == std::string::npos || received == std::string::npos) {
    return text;
  }
  const std::string times = text.substr(received + kReceived.size());
  return fmt::format("{}: is given {}; give it once", name,
                     times == "2" ? "twice" : times + " times");
}

}  // namespace paceline::cli
