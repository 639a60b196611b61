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

/// A case that contradicts itself or cannot run here.
struct RejectedCase {
  Case configuration;
  std::string why;  // one sentence
};

/// A sweep: its name and its cases in the order of the table.
struct Experiment {
  std::string name;
  std::vector<Case> cases;
  std::vector<RejectedCase> rejected{};  // beside valid ones; recorded as failed
  int runs = 1;                          // repetitions, each in fresh processes where possible
  /// By key of the case: the batch sizes that were tried where the largest was asked for.
  std::map<std::string, std::string> searches{};
};

/// The batch size of a case that asks for the largest, until it is found.
inline constexpr int kLargestBatch = 0;
inline constexpr const char* kMax = "max";  // as it is asked for

/// Keys of RunRecord::adapter: "max" where the batch size was searched for, and the sizes that were
/// tried.
inline constexpr const char* kBatchMode = "batch_mode";
inline constexpr const char* kBatchTried = "batch_sizes_tried";

/// Most ranks of any case.
int largest_world(const Experiment& experiment);

/// Most processes of Paceline of any case.
int most_processes(const Experiment& experiment);

/// Every case of the raw settings, resolved ("auto", "max", threads 0) and checked.
///
/// First the [[case]] tables in their order, then [sweep] as a product in the order of
/// keys(), the last key fastest; settings without either are one case. A flag replaces its
/// key everywhere; several values of it sweep too.  Cases that turn out equal are kept once.
/// Throws UsageError with the origin of the offending value: for a value that its key cannot have,
/// for a text that is no strategy, and where every case is rejected.  A case of one rank that a
/// sweep is compared with does not count as a valid one.
Experiment expand(const RawSettings& raw, const MachineFacts& machine);

}  // namespace paceline::cases
