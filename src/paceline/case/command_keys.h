// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/case/raw_settings.h"

namespace paceline::cases {

// Note [What a command sees]
// A user's command (--command) sees a key of its case in three ways. The command line contains the
// key's placeholder; or Paceline acts on the key (OMP_NUM_THREADS, the ranks that it starts, which
// lines of output it reads); or the command line, or a file that it names, contains the word
// PACELINE_CASE. A value that the command does not see only describes the job: two cases with
// different values of such a key would be the same job under two names.

/// Returns the keys whose values the environment variable PACELINE_CASE contains.
const std::vector<std::string_view>& case_variable_keys();

/// The values of the {placeholders} of a command, by name: those of every key of the case, and
/// batch, global_batch and total. {port} is not among them, as it differs from start to start.
std::map<std::string, std::string, std::less<>> placeholders_of(const Case& c);

/// Whether the case's command sees the key, as the note above says.
bool command_sees(const Case& c, std::string_view key);

/// Adds defaults to a block of an experiment that has a command. The model is called "command". If
/// a line of output reports several steps, the default numbers of warm-up and measured steps are
/// rounded up to whole lines. Throws UsageError without a batch size, from which rates are
/// computed. Returns a block without a command unchanged.
RawValues with_command_defaults(RawValues values);

/// A case with a `command`, as the user wrote it, and the place where each value was written, by
/// key.
struct CommandCase {
  Case given;
  std::map<std::string, std::string, std::less<>> where;
};

/// Throws UsageError in three cases: two cases of one command differ in a key that the command does
/// not see; another key has no effect because the command does not see it; or `step_regex` is not a
/// regular expression with at most one group.
void check_command_keys(const std::vector<CommandCase>& cases);

/// Marks as `unstated` each key of a command's case whose value Paceline cannot know, because the
/// user did not give it and the command does not see it. The record then has null there instead of
/// Paceline's own default, which says nothing about the user's program. `is_given` returns whether
/// the user gave a key. `gpu_visible`: this machine has a GPU; without one, the device is known to
/// be the CPU.
void mark_unknown_values(Case& c, const std::function<bool(std::string_view key)>& is_given,
                         bool gpu_visible);

}  // namespace paceline::cases
