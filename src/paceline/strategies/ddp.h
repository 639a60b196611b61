// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "paceline/plan/program.h"
#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {

/// The performer of the plan's ops that PyTorch's Reducer carries out.
inline constexpr std::string_view kReducer = "c10d.reducer";

/// Caps of the Reducer, in bytes.
struct BucketCaps {
  std::int64_t first = 0;  // of the first bucket; PyTorch: 1 MiB, or `cap`
                           // where the user gave one
  std::int64_t cap = 0;    // of the others
};

/// What the Reducer is made with.
struct ReducerOptions {
  BucketCaps caps{};
  bool gradient_as_bucket_view = false;
  bool static_graph = false;
};

/// The Reducer's options, from the options of the strategy `ddp`.
ReducerOptions reducer_options(const Options& options);

/// Buckets of step `step`: one of everything in step 0 (the constructor's
/// limit is infinite unless unused parameters are searched for), from step 1
/// on those rebuilt in the order in which gradients arrived (of a static graph they are rebuilt in
/// step 2).
Groups reducer_buckets(const ModelShape& model, const BucketCaps& caps, Step step);

}  // namespace paceline::strategies
