// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace paceline::cli {

/// Throws UsageError where a flag of `command` is given an empty value, or a
/// list with nothing between two commas, which CLI11 passes over.
/// `arguments`: those of the command, before they are parsed.
void refuse_empty_values(const CLI::App& command,
                         const std::vector<std::string>& arguments);

/// Throws UsageError where numbers of a list are given with blanks between
/// them, "--ranks 1 4 32", of which CLI11 would take the first.
void refuse_split_lists(const CLI::App& command,
                        const std::vector<std::string>& arguments);

/// A check of CLI11 for a seed, of which it would take what fits in 64 bits:
/// what is wrong with it; empty: nothing.
std::string refusal_of_seed(const std::string& text);

/// A flag and its values: "--ranks 4,8".
std::string as_given(const CLI::Option& option);

/// What CLI11 says, in our words where its own do not help: a missing value is
/// "--ranks: 1 required N missing", a flag given twice "--ranks: At Most 1
/// required but received 2", a word for a number "Could not convert: --seed =
/// a".
std::string sentence_of(const CLI::ParseError& error);

}  // namespace paceline::cli
