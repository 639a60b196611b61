// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "paceline/records/run_record.h"
#include "paceline/report/cases.h"

namespace paceline::report {

/// What PyTorch's DDP benchmark prints, to the character: banner, topology,
/// and per model one row a case with percentiles of the steps of all ranks and
/// runs pooled, and the rate of one rank (batch size / percentile, truncated).
/// The words "GPUs" and "nvidia-smi" stay on machines that have none.
/// Cases that failed have no row.
std::string render_ddp(std::span<const records::RunRecord> records);

/// The object that the benchmark's --json writes and its diff.py reads:
/// seconds, all ranks pooled.  The reader pairs by position and passes over
/// the first result of a model, which must be the one without DDP; where the
/// records have no such case, an empty one stands there.
nlohmann::ordered_json ddp_json(std::span<const records::RunRecord> records);

/// The text of that object, without a line break at the end.
std::string render_ddp_json(std::span<const records::RunRecord> records);

/// Seconds of the steps of all ranks and runs of a case, one after the other.
std::vector<double> pooled_over_runs(const Case& one);

/// Whether it is the benchmark's case without DDP.
bool is_without_ddp(const records::Configuration& c);

}  // namespace paceline::report
