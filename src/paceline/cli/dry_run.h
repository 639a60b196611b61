// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "paceline/case/experiment.h"
#include "paceline/cluster/cluster.h"

namespace paceline::cli {

/// What `--dry-run` prints: every case with what it will do.  `cluster` is what
/// `cluster_file` says, if one was given.
std::string dry_run_text(const cases::Experiment& experiment,
                         const std::optional<cluster::Cluster>& cluster,
                         const std::string& cluster_file);

}  // namespace paceline::cli
