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
// A command of the user's sees a key of its case where it has the key's placeholder, where Paceline
// acts on it (OMP_NUM_THREADS, the ranks that it starts, which lines it reads), or where it reads
// PACELINE_CASE: its line, or a file that the line names, has that word. A value that the command
// does not see is a statement about the job; two values of it would be rows that differ in name
// only.

/// The keys of PACELINE_CASE.
const std::vector<std::string_view>& handed_over_keys();

/// What the braces of a command stand for, by name: every key of the case, and batch, global_batch
/// and total. {port} differs from start to start.
std::map<std::string, std::string, std::less<>> placeholders_of(const Case& c);

/// Whether the case's command sees the key.
bool command_sees(const Case& c, std::string_view key);

/// The values of a block with what a command does not tell: the network is called "command", and
/// where a line of its output stands for several steps, the defaults of warm-up and window are
/// whole lines. Throws UsageError without a batch, from which rates are computed. Other blocks stay
/// as they are.
RawValues with_command_defaults(RawValues values);

/// A case of a command before anything is derived, and where its values are from, by key.
struct CommandCase {
  Case given;
  std::map<std::string, std::string, std::less<>> where;
};

/// Throws UsageError where cases of one command differ in a key that it does not see, where a key
/// that is to change it has no effect, and where `step_regex` is no expression with at most one
/// group.
void check_command_keys(const std::vector<CommandCase>& cases);

/// Of a case of a command: what neither the user nor Paceline tells it is not known (`unstated`).
/// `is_given` says whether the user gave a key.
void forget_defaults(Case& c, const std::function<bool(std::string_view key)>& is_given,
                     bool gpu_visible);

}  // namespace paceline::cases
