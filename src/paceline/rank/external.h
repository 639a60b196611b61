// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "paceline/case/settings.h"
#include "paceline/engines/run_rank.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/records/run_record.h"

namespace paceline::rank {

/// Whether the case is performed by a command outside Paceline.
bool is_external(const records::Configuration& configuration);

/// What an external case is performed with.
struct ExternalOptions {
  const cases::Settings& settings;
  std::string prefix;  // of the keys that are this case's own
  std::string log;     // file for the command's output; empty: none
  std::function<void(int done, int total)> progress;
};

/// Runs this process's share of an external case: starts the command with the case in its
/// environment and reads its steps (docs/adapters.md).  Returns a record of samples, of what the
/// adapter said of itself, and of warnings; or of an error with its status, the first one that any
/// rank of the case met: all ranks end their command then and return the same.
records::RunRecord run_external(const engines::RankContext& context,
                                const records::Configuration& configuration,
                                launch::PrefixStore& store, const ExternalOptions& options);

/// Checks the record of all ranks: steps of one of them, or of all, have to be there. Of warnings
/// with one code, which ranks give alike, the first stays.
void complete_external(const records::Configuration& configuration, records::RunRecord& whole);

/// The versions of the libraries that trained are those that the program said; Paceline's own are
/// no part of such a record.
void take_versions(records::RunRecord& whole);

/// Whether what a program said tells that memory was short, in the words of frameworks, allocators
/// and kernels.
bool says_out_of_memory(const std::string& text);

/// "results/x.jsonl" -> "results/x.logs/run0-case3-jax-rank1.log".
std::string log_path(const std::string& records, int run, std::size_t index,
                     const records::Configuration& configuration, int rank);

}  // namespace paceline::rank
