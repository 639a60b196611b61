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

// Checks of arguments that CLI11 does not make, or whose errors it words in its own terms.

namespace paceline::cli {

/// A flag on the command line: a word that begins with a dash.
struct GivenFlag {
  std::string name;                     // name with dashes
  std::optional<std::string> value{};   // text after an equals sign, or the next word
  const CLI::Option* option = nullptr;  // the command's option; null: unknown flag
};

/// Calls `visit` for each flag among `arguments`, the words after the command, up to a word "--".
void for_each_flag(const CLI::App& command, const std::vector<std::string>& arguments,
                   const std::function<void(const GivenFlag&)>& visit);

/// Throws UsageError if a flag of `command` has an empty value, or a list has an empty element
/// between two commas, both of which CLI11 would skip. `arguments` are the words after the command,
/// before they are parsed.
void reject_empty_values(const CLI::App& command, const std::vector<std::string>& arguments);

/// A check in CLI11's form: returns what is wrong with the text of an argument; empty if it is
/// valid.
using ArgumentCheck = std::function<std::string(const std::string& text)>;

/// Accepts a number from `least` to `most`; rejects NaN.
ArgumentCheck number_in(double least, double most = std::numeric_limits<double>::infinity());

/// Accepts an integer, written in digits, from `least` to `most`.
ArgumentCheck whole_number_in(int least, int most = std::numeric_limits<int>::max());

/// Accepts one of `names`; messages call such a name `kind`.
ArgumentCheck one_of(std::string kind, std::vector<std::string> names);

/// Adds --format, which takes one of `names`. The initial value of `format` is the default.
void add_format_flag(CLI::App& app, std::string& format, const std::vector<std::string>& names);

/// Accepts a seed: an unsigned 64-bit integer. CLI11 itself would accept -1.
ArgumentCheck seed_in_64_bits();

/// The error of CLI11 as a sentence. Two errors are reworded: a missing value ("--ranks: 1 required
/// N missing") and a flag given twice ("--ranks: At Most 1 required but received 2").
std::string sentence_of(const CLI::ParseError& error);

}  // namespace paceline::cli
