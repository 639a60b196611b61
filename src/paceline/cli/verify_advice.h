// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/sim/advise.h"

namespace paceline::cli {

/// One of the best, predicted for and run on the same machine.
struct Verified {
  std::string strategy;
  double predicted_s = 0, measured_s = 0;
  bool valid = true;  // its engine was as fast as the link
  std::string error;  // why it did not run; empty: it did
};

/// Where the best strategies are run, and in which words.
struct Verification {
  std::string where;
  std::vector<Verified> rows;
};

/// Runs the first `count` rows that run.
///
/// Where the cluster's only host is this one, they run as they are.  Elsewhere
/// its links are emulated, one for each rank, at the rate of the slower one
/// that ranks cross, compute is replayed from the prediction's layer times,
/// and what is compared is a prediction for these links.  Throws UsageError
/// where ranks do not fit here, too: two machines are never compared.
Verification verify(const sim::AdviceTable& table,
                    const sim::AdviseRequest& request,
                    const std::string& model,
                    int count);

}  // namespace paceline::cli
