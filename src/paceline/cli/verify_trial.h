// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/cli/verify_advice.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/records/run_record.h"

// One row of an advice as `paceline run` measures it.

namespace paceline::cli {

/// Where rows run.
struct Where {
  bool here = false;     // on the cluster; else on emulated links
  bool replays = true;   // compute is replayed
  bool on_gpus = false;  // the engine is NCCL's
  std::string profile;   // file of what is replayed, beside the records

  const char* engine() const { return on_gpus ? "nccl" : "gloo"; }
};

Where where_of(const predict::AdviseRequest& request,
               const VerifyOptions& options);

/// A row that will be run.
struct Trial {
  Verified row;
  predict::Prediction prediction;  // for where it runs
  cluster::LinkSpec link{};        // of emulated ones

  /// About how long its steps take, those of compute alone among them.
  double seconds() const;
};

/// The first `count` rows that run, predicted for where they run.
std::vector<Trial> trials_of(const predict::AdviceTable& table,
                             const predict::AdviseRequest& request,
                             const Where& where,
                             int count);

/// The arguments of the program that measures the trial.
std::vector<std::string> command_of(const Trial& trial,
                                    const Where& where,
                                    const VerifyOptions& options);

/// The layers, and the update, of a prediction.
void write_profile(const std::string& path,
                   const predict::Prediction& prediction);

/// Takes what was measured.
void take(const records::RunRecord& record, Verified& row);

}  // namespace paceline::cli
