// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "paceline/case/experiment.h"
#include "paceline/cluster/cluster.h"

namespace paceline::cli {

/// What `--dry-run` prints: every case with its plan and costs. `cluster` is the cluster that
/// `cluster_file` describes, if one was given.
std::string dry_run_text(const cases::Experiment& experiment,
                         const std::optional<cluster::Cluster>& cluster,
                         const std::string& cluster_file);

}  // namespace paceline::cli
