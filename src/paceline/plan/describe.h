// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::plan {

/// One line, for --dry-run, deadlines and deadlocks:
///   all-reduce, 9.4 MB, gradients layer4.2.conv3 .. layer4.1.bn1, on grad,
///   8 ranks
/// What crosses on another engine than the main one says so: "on lookups of the sparse engine, 4
/// ranks".
/// The size is the payload of a collective, what a kernel writes in all; MB are 10^6 bytes.
std::string describe(const Op& op, const ModelShape& model, const Setup& setup);

/// "gradients layer4.2.conv3.weight .. layer4.1.bn1.weight": a slice by the first and last tensor
/// in it, or by its range where it holds none.
std::string describe(const Slice& slice, const ModelShape& model, const Setup& setup);

/// One numbered line per op; runs of model work are one line each.
std::string describe(const CommPlan& plan, const ModelShape& model, const Setup& setup);

/// 0 bytes, 999 bytes, 1.0 kB, 9.4 MB, 1.2 GB; powers of 1000.
std::string bytes_text(std::int64_t bytes);

}  // namespace paceline::plan
