// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/argument_checks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/legacy_names.h"

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

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// Throws UsageError for an unknown flag. A flag of one letter may be directly followed by its
/// value, "-n4".
void reject_unknown(const CLI::App& command, const std::string& flag) {
  const CLI::Option* letter = command.get_option_no_throw(flag.substr(0, 2));
  if (letter != nullptr && takes_value(*letter)) {
    return;
  }
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      known.push_back("--" + name);
    }
  }
  throw UsageError(cases::unknown_flag_message(flag, command.get_name(), known));
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

void check_flags(const CLI::App& command, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& word = arguments[i];
    if (!word.starts_with("-") || word == "-") {
      continue;
    }
    const std::size_t equals = word.find('=');
    const CLI::Option* option = command.get_option_no_throw(word.substr(0, equals));
    if (option == nullptr) {
      reject_unknown(command, word.substr(0, equals));
    } else if (takes_value(*option) && equals != std::string::npos) {
      reject_empty(*option, word.substr(equals + 1));
    } else if (takes_value(*option) && i + 1 < arguments.size()) {
      reject_empty(*option, arguments[++i]);
    }
  }
}

ArgumentCheck number_in(double least, double most) {
  return check_of<double>("a number", least, most);
}

ArgumentCheck whole_number_in(int least, int most) {
  return check_of<int>("a whole number", least, most);
}

ArgumentCheck one_of(std::string kind, std::vector<std::string> names) {
  return [kind = std::move(kind), names = std::move(names)](const std::string& text) {
    return std::ranges::find(names, text) == names.end() ? unknown_name_message(kind, text, names)
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
