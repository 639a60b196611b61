// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "paceline/case/settings.h"
#include "paceline/engines/run_rank.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// Returns whether a command outside Paceline performs the case.
bool is_external(const cases::Case& configuration);

/// Settings of this process for an external case.
struct ExternalOptions {
  const cases::Settings& settings;
  std::string prefix;  // prefix of this case's keys in the store
  std::string log;     // file that gets the command's output; empty: none
  std::function<void(int done, int total)> progress;
};

/// Runs this process's part of an external case: starts the command with the case in its
/// environment and reads its steps (docs/adapters.md).  Returns a record with samples, warnings,
/// and what the adapter reported about itself.  If any rank met an error, all ranks end their
/// command and return a record of the first error with its status.
records::RunRecord run_external(const engines::RankContext& context,
                                const cases::Case& configuration, launch::PrefixStore& store,
                                const ExternalOptions& options);

/// Checks that the merged record has steps of one rank or of all ranks; otherwise turns it into a
/// failed record.  Of several warnings with the same code, keeps the first.
void check_external_record(records::RunRecord& whole);

/// Sets the record's library versions to those that the external program reported.  Paceline's own
/// versions do not belong in such a record.
void adopt_reported_versions(records::RunRecord& whole);

/// Returns the path of a rank's log: "results/x.jsonl" ->
/// "results/x.logs/run0-case3-jax-rank1.log". If there is such a file, of an earlier run or an
/// earlier try, adds the first free number from 2 on: "run0-case3-jax-rank1-2.log".
std::string log_path(const std::string& records, int run, std::size_t index,
                     const cases::Case& configuration, int rank);

}  // namespace paceline::rank
