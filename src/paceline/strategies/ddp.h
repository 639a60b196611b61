// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "paceline/plan/program.h"
#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {

/// The owner (Op) of the plan's ops that PyTorch's Reducer issues itself.
inline constexpr std::string_view kReducer = "c10d.reducer";

/// The sizes, in bytes, at which the Reducer closes a bucket.
struct BucketCaps {
  std::int64_t first = 0;  // of the first bucket; PyTorch: 1 MiB, or `cap` if the user gave one
  std::int64_t cap = 0;    // of all other buckets
};

/// The options with which the Reducer is constructed.
struct ReducerOptions {
  BucketCaps caps{};
  bool gradient_as_bucket_view = false;
  bool static_graph = false;
};

/// The Reducer's options, from the options of the strategy `ddp`.
ReducerOptions reducer_options(const Options& options);

/// The Reducer's buckets in step `step`.  Step 0 has one bucket of all parameters, because the
/// constructor's limit is infinite unless unused parameters are searched for.  From step 1 on, the
/// buckets are those that the Reducer rebuilt in the order in which gradients arrived (with a
/// static graph it rebuilds them in step 2).
Groups reducer_buckets(const ModelShape& model, const BucketCaps& caps, Step step);

}  // namespace paceline::strategies
