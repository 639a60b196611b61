// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::plan {

/// Describes an op in one line, for --dry-run, missed deadlines and deadlocks:
///   all-reduce, 9.4 MB, gradients layer4.2.conv3 .. layer4.1.bn1, on grad,
///   8 ranks
/// The size is the payload of a collective, or all bytes that a kernel writes;
/// MB are 10^6 bytes.
std::string describe(const Op& op, const ModelShape& model, const Setup& setup);

/// Describes a slice, such as "gradients layer4.2.conv3.weight .. layer4.1.bn1.weight", by its
/// first and last tensor, or by its range if it holds no tensor.
std::string describe(const Slice& slice, const ModelShape& model, const Setup& setup);

/// Describes a plan in one numbered line per op; each run of model work is one line.
std::string describe(const CommPlan& plan, const ModelShape& model, const Setup& setup);

/// The text of a size, such as 0 bytes, 999 bytes, 1.0 kB, 9.4 MB, 1.2 GB; units are powers of
/// 1000.
std::string bytes_text(std::int64_t bytes);

}  // namespace paceline::plan
