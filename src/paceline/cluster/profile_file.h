// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/cluster/codec_times.h"
#include "paceline/plan/plan_input.h"
#include "paceline/plan/profile.h"

// A network as a file: its parameters, how long each layer computes, and in which order gradients
// become ready.  `paceline profile` and paceline.torch.profile write it; whatever takes a network's
// shape can take one.  docs/profile.md has the keys.

namespace paceline::cluster {

struct ProfiledModel {
  plan::ModelShape model;
  plan::LayerProfile profile;
  int batch_size = 1;                         // samples of the one micro-batch
  std::string device{};                       // cpu, cuda
  std::optional<plan::Picoseconds> update{};  // one update of all parameters
  std::optional<std::int64_t> memory{};       // bytes at the peak of a step
  std::vector<CodecTime> codecs{};            // empty: not measured
};

/// A profile's JSON text; `file` is what errors name.  Throws UsageError with the key and what was
/// expected there: for an unknown or missing key, a
/// module or parameter that is not there or twice, a negative time.
ProfiledModel parse_profile(std::string_view text, const std::string& file);

/// "fp32", "fp16", "bf16" or "fp8", as a profile's `dtype` has it.
std::string_view word_of(plan::DType dtype);

/// The type that word_of() calls so; nothing where the word is another.
std::optional<plan::DType> type_named(std::string_view word);

/// Reads a file, or throws UsageError.
ProfiledModel read_profile(const std::string& path);

/// A text that parses to an equal profile, times to the picosecond.
std::string to_json_text(const ProfiledModel& profiled);

}  // namespace paceline::cluster
