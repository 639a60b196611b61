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
// become ready.  `paceline profile` and paceline.torch.profile write such files; every command that
// takes a network's shape accepts one.  docs/profile.md has the keys.

namespace paceline::cluster {

struct ProfiledModel {
  plan::ModelShape model;
  plan::LayerProfile profile;
  int batch_size = 1;                         // examples in the micro-batch that was timed
  std::string device{};                       // cpu, cuda
  std::optional<plan::Picoseconds> update{};  // time of one update of all parameters
  std::optional<std::int64_t> memory{};       // peak memory of a step, in bytes
  std::vector<CodecTime> codecs{};            // empty: not measured
};

/// Parses a profile's JSON text; errors name `file`.  Throws UsageError with the key and the
/// expected value for an unknown or missing key, a module or parameter that is missing or occurs
/// twice, and a negative time.
ProfiledModel parse_profile(std::string_view text, const std::string& file);

/// Returns "fp32", "fp16", "bf16" or "fp8", the value of a profile's `dtype`.
std::string_view word_of(plan::DType dtype);

/// Returns the type for which word_of() returns `word`; nothing for other words.
std::optional<plan::DType> type_named(std::string_view word);

/// Reads and parses a profile file; throws UsageError.
ProfiledModel read_profile(const std::string& path);

/// Returns a text that parses to an equal profile, with times exact to the picosecond.
std::string to_json_text(const ProfiledModel& profiled);

}  // namespace paceline::cluster
