// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "paceline/case/experiment.h"
#include "paceline/case/settings.h"

namespace paceline::front {

/// How a run with a size ended.
enum class Fit : std::uint8_t {
  kFits,
  kTooLarge,  // for the memory
  kTooSmall   // for the network: batch norm rejects one value per channel
};

/// How a search for the largest size went.
struct BatchSearch {
  int largest = 0;    // 0: none fits
  int above = 0;      // the least size that was too large; 0: none was
  std::string tried;  // "1 fits, 2 fits, 4 does not, 3 fits"
};

/// Doubles from `unit` up to the first size that is too large, or to `most`; then bisects, to
/// multiples of `unit`, until an eighth of the size is left.
BatchSearch search_batch(int unit, int most, const std::function<Fit(int)>& fits);

/// Replaces the batch sizes of the cases that have `batch_size = "max"`, and notes in `searches`
/// what was tried.  Each size is a run of its own, of one rank and few steps, with this host's
/// memory divided by the most ranks of a case as its limit on a CPU.  With `resume` a size that the
/// file of records has is taken.  Throws UsageError where no size fits, where all do
/// up to the bound of the search, and where a run fails for another reason than its size.
void settle_largest_batches(cases::Experiment& experiment, const cases::Settings& settings);

}  // namespace paceline::front
