// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

namespace paceline::runtime {

/// writes[i] = numbers[0] * reads[i]; in place where both are the same slice.
void run_copy(const OptimizerSettings& rule, const Call& call);

/// writes[0] = the sum of numbers[i] * reads[i], added in order of i, in the
/// type of writes[0]; any read may be the written slice.
void run_linear(const OptimizerSettings& rule, const Call& call);

/// writes[0] = reads[0] / reads[1], where reads[1] has one element.
void run_divide(const OptimizerSettings& rule, const Call& call);

/// writes[0] = reads[0] * reads[1], where reads[1] has one element.
void run_multiply(const OptimizerSettings& rule, const Call& call);

/// writes[0] = reads[0] in the other's type, rounded to the nearest even.
void run_cast(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
