// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/cluster/cluster_choice.h"
#include "paceline/predict/advise.h"

namespace paceline::cli {

struct VerifyOptions {
  int count = 0;                   // rows; 0: none
  double minutes = 30;             // of all runs together, at most
  std::string model;               // as --model names it
  cluster::ClusterChoice cluster;  // as the job names it
  std::string records;  // JSON Lines file that every run is appended to
};

/// One of the best, predicted for and run on the same links.
struct Verified {
  std::string strategy;
  double predicted_s = 0, measured_s = 0;
  double fastest_s = 0, slowest_s = 0;    // of the measured steps
  double stretch = 1;                     // of the run
  std::int64_t operations = 0, late = 0;  // late: slower than the link
  std::string error;                      // why it did not run; empty: it did

  bool valid() const { return late == 0; }
};

/// Where the best strategies were run, and what came of it.
struct Verification {
  std::string where;
  std::string priced;              // what `predicted_s` is a prediction for
  std::vector<Verified> rows;      // in the advised order
  std::vector<std::string> notes;  // what was not run, and why; sentences
  int stop_signal = 0;             // we were told to stop by it
};

/// Throws UsageError where nothing could be run: a negative count, no time, or
/// a cluster that is neither here nor small enough.
void check_verification(const predict::AdviseRequest& request,
                        const VerifyOptions& options);

/// Runs the first `count` rows that run, and says on stderr how long that
/// takes before it begins.
///
/// Where the cluster's first host is this one, they run on the cluster as it
/// is.  Elsewhere its links are emulated (predict/emulate.h), slowed down until
/// this machine's engine, which is measured first, is no slower than they are;
/// what is compared is a prediction for these links.  A run in which the engine
/// was slower all the same is repeated at twice the stretch, twice at most and
/// within the minutes.
Verification verify(const predict::AdviceTable& table,
                    const predict::AdviseRequest& request,
                    const VerifyOptions& options);

}  // namespace paceline::cli
