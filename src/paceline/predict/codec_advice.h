// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paceline/predict/advise.h"

// Compares the coding times that `paceline profile --codecs` has measured with the communication
// time that each codec saves.

namespace paceline::predict {

/// The costs of a codec on the job's network, on rank 0.
struct CodecAdvice {
  std::string codec;
  plan::Picoseconds coding = 0;  // encode and decode of a step on one core
  std::int64_t bytes = 0;        // bytes that the rank sends in a step
  /// The link rate in bytes/s below which coding takes less time than sending the bytes that it
  /// saves; empty if it saves none.
  std::optional<double> break_even_bytes_per_s{};
  std::string strategy{};         // fusion with the codec and the best bucket size
  plan::Picoseconds step = 0;     // the predicted step of `strategy`
  plan::Picoseconds exposed = 0;  // what communication adds to that step
  double change = 0;              // relative change of the step against fusion without a codec
  /// Whether the difference from the step without a codec is within the error (as in an
  /// AdviceTable).
  bool ties_with_no_codec = false;
};

struct CodecTable {
  CodecAdvice plain{};  // the row "none": without a codec
  std::vector<CodecAdvice> rows;
  std::vector<RejectedCandidate> unfit;
};

/// Returns the saved bytes over the time that coding takes, in bytes/s.  Empty if none are saved,
/// and infinite if coding takes no time.
std::optional<double> break_even_bytes_per_s(std::int64_t saved_bytes, plan::Picoseconds coding);

/// Predicts the step with each of `request.job.codecs`, in their order.  Returns no rows if there
/// are no codecs or the job has one rank.  Throws UsageError for an impossible job.
CodecTable compare_codecs(const AdviseRequest& request);

}  // namespace paceline::predict
