// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/plan/program.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

/// The performer of the plan's ops that PyTorch's Reducer carries out.
inline constexpr std::string_view kReducer = "c10d.reducer";

/// Caps of the Reducer, in bytes.
struct BucketCaps {
  std::int64_t first = 0;  // of the first bucket; PyTorch: 1 MiB, or `cap`
                           // where the user gave one
  std::int64_t cap = 0;    // of the others
};

/// Buckets of step `step`: one of everything in step 0 (the constructor's
/// limit is infinite unless unused parameters are searched for), from step 1
/// on those rebuilt in the order in which gradients arrived (of a static graph
/// they are rebuilt in step 2).
Groups reducer_buckets(const ModelShape& model,
                       const BucketCaps& caps,
                       Step step);

}  // namespace paceline::strategies
