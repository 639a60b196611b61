// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that several tests of commands write.

namespace paceline {

/// A profile of two modules of one tensor each.
inline constexpr const char* kTwoTensors = R"({"paceline_profile": 1,
 "model": "theirs", "batch_size": 2, "update_us": 100,
 "modules": [{"name": "a", "forward_us": 2000}, {"name": "b", "forward_us": 1000}],
 "parameters": [
  {"name": "a.w", "sizes": [300, 20], "module": "a", "backward_us": 4000},
  {"name": "b.w", "sizes": [7000], "module": "b", "backward_us": 3000}],
 "ready_order": ["b.w", "a.w"]})";

/// A cluster that is not this machine, whose links are slow enough for any.
inline constexpr const char* kTwoHosts = R"(
name = "two"
source = "a test"
[[hosts]]
name = "elsewhere"
count = 2
[[links]]
joins = "hosts"
rate = "10Mbit"
latency = "1ms"
)";

}  // namespace paceline
