// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/given_words.h"

#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::cli {
namespace {

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
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

std::string sentence_of(const CLI::ParseError& error) {
  const std::string text = error.what();
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
