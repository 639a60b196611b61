// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "paceline/case/experiment.h"
#include "paceline/case/settings.h"

namespace paceline::front {

/// Whether a run with one batch size fitted into memory.
enum class TrialOutcome : std::uint8_t {
  kFits,
  kTooLarge,  // the run needs more memory than there is
  kTooSmall   // too small for the network: batch norm rejects one value per channel
};

/// The result of a search for the largest batch size that fits into memory.
struct BatchSearchResult {
  int largest = 0;    // the largest size that fits; 0: none does
  int above = 0;      // the smallest size that was too large; 0: none was
  std::string tried;  // "1 fits, 2 fits, 4 does not, 3 fits"
};

/// Doubles the size from `unit` on, up to the first one that is too large or to `most`.  Then
/// bisects in multiples of `unit` until the gap is at most an eighth of the size, or one `unit`.
BatchSearchResult search_batch(int unit, int most, const std::function<TrialOutcome(int)>& fits);

/// Replaces the batch sizes of the cases that have `batch_size = "max"`, and stores in `searches`
/// the sizes that were tried.  Each size is a separate run of one rank and few steps; on a CPU its
/// memory limit is that of this host divided by the largest number of ranks of a case.  With
/// `resume`, a size is read from the record file if it has one.  Throws UsageError if no size fits,
/// if all sizes up to the bound of the search fit, and if a run fails for another reason than its
/// size.
void resolve_largest_batches(cases::Experiment& experiment, const cases::Settings& settings);

}  // namespace paceline::front
