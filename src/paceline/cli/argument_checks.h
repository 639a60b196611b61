// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

// What CLI11 does not check of arguments, or words in its own terms.

namespace paceline::cli {

/// A word of the command line that begins with a dash.
struct GivenFlag {
  std::string name;                     // with its dashes
  std::optional<std::string> value{};   // behind its equals sign, or the next word
  const CLI::Option* option = nullptr;  // of the command; null: it has none
};

/// Calls `visit` for each flag among `arguments`, those of the command, up to
/// a word "--".
void for_each_flag(const CLI::App& command, const std::vector<std::string>& arguments,
                   const std::function<void(const GivenFlag&)>& visit);

/// Throws UsageError where a flag of `command` has an empty value, or a list has nothing between
/// two commas; CLI11 skips both.  `arguments`: those of the command, before they are parsed.
void reject_empty_values(const CLI::App& command, const std::vector<std::string>& arguments);

/// A check of CLI11: the text of an argument to what is wrong with it; empty: nothing.
using ArgumentCheck = std::function<std::string(const std::string& text)>;

/// A number from `least` to `most`; NaN is none.
ArgumentCheck number_in(double least, double most = std::numeric_limits<double>::infinity());

/// A whole number, in digits, from `least` to `most`.
ArgumentCheck whole_number_in(int least, int most = std::numeric_limits<int>::max());

/// One of these names, which are called `kind`.
ArgumentCheck one_of(std::string kind, std::vector<std::string> names);

/// Adds --format: one of `names`; `format` has the default.
void add_format_flag(CLI::App& app, std::string& format, const std::vector<std::string>& names);

/// A seed: a whole number of 64 bits without a sign.  CLI11 alone takes -1.
ArgumentCheck seed_in_64_bits();

/// What CLI11 says, in other words for a missing value ("--ranks: 1 required N missing") and for a
/// flag given twice ("--ranks: At Most 1 required but received 2").
std::string sentence_of(const CLI::ParseError& error);

}  // namespace paceline::cli
