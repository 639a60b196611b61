// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

// Checks of arguments that CLI11 does not make, or whose errors it words in its own terms.

namespace paceline::cli {

/// Throws UsageError if a flag among `arguments`, the words after the command, is none of
/// `command`'s, has an empty value, or has a list with an empty element between two commas. CLI11
/// takes the value of an unknown flag for a positional argument, and skips empty values.
void check_flags(const CLI::App& command, const std::vector<std::string>& arguments);

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
