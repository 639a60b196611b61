// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paceline/predict/advise.h"

// Whether a codec pays, by coding times that `paceline profile --codecs` has measured.

namespace paceline::predict {

/// A codec on the job's network, seen from rank 0.
struct CodecAdvice {
  std::string codec;
  plan::Picoseconds coding = 0;  // a step, encode and decode, one core
  std::int64_t bytes = 0;        // that the rank sends in a step
  /// The link rate, bytes/s, below which coding takes less time than the bytes that it saves;
  /// nothing where it saves none.
  std::optional<double> break_even{};
  std::string strategy{};         // fusion with the codec, in its best buckets
  plan::Picoseconds step = 0;     // its prediction
  plan::Picoseconds exposed = 0;  // what communication adds to it
  double change = 0;              // of the step against fusion without a codec
  /// The error bars do not tell the two steps apart (as in an AdviceTable).
  bool like_none = false;
};

struct CodecTable {
  CodecAdvice plain{};  // "none": without a codec
  std::vector<CodecAdvice> rows;
  std::vector<Unfit> unfit;
};

/// Bytes that are saved over the time that coding takes, bytes/s; nothing where none are saved.
/// Zero time: infinite.
std::optional<double> break_even(std::int64_t saved_bytes, plan::Picoseconds coding);

/// Prices the codecs of `request.job.codecs`, in their order; no rows where it has none or the job
/// has one rank.  Throws UsageError for a job that cannot be.
CodecTable weigh_codecs(const AdviseRequest& request);

}  // namespace paceline::predict
