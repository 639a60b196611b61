// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/case/machine.h"
#include "paceline/case/raw_settings.h"

namespace paceline::cases {

/// A case that cannot run here, or whose values contradict each other.
struct RejectedCase {
  Case configuration;
  std::string why;  // one sentence
};

/// A sweep: its name and its cases in the order in which they run.
struct Experiment {
  std::string name;
  std::vector<Case> cases;
  std::vector<RejectedCase> rejected{};  // of a sweep with valid cases; recorded as failed
  int runs = 1;                          // repetitions, each in fresh processes where possible
  /// The batch sizes that were tried in the search for the largest one, by key of the case.
  std::map<std::string, std::string> searches{};
};

/// The value of batch_size if the user asked for the largest one, until it has been found.
inline constexpr int kLargestBatch = 0;
inline constexpr const char* kMax = "max";  // the word by which users ask for the largest

/// Keys of RunRecord::adapter. The value of batch_mode is "max" if the batch size was searched for;
/// batch_sizes_tried lists the sizes that were tried.
inline constexpr const char* kBatchMode = "batch_mode";
inline constexpr const char* kBatchTried = "batch_sizes_tried";

/// Returns the largest number of ranks that any case of the experiment has.
int largest_world(const Experiment& experiment);

/// The largest number of Paceline processes that any case needs.
int most_processes(const Experiment& experiment);

/// Every case of the raw settings, resolved ("auto", "max", threads 0) and checked.
///
/// The order is: first the [[case]] tables in their order, then the Cartesian product of [sweep] in
/// the order of keys(), in which the last key varies fastest. Settings without either are one case.
/// A flag replaces its key everywhere; a flag with several values sweeps too. Of equal cases only
/// the first is kept. Throws UsageError, with the origin of the offending value, for a value that
/// its key cannot have, for a text that is no strategy, and if every case is rejected. A case of
/// one rank that serves as the baseline of a sweep does not count as valid here.
Experiment expand(const RawSettings& raw, const MachineFacts& machine);

}  // namespace paceline::cases
