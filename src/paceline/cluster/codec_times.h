// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/plan/profile.h"

namespace paceline::cluster {

/// The time of a kernel, and the bytes that it reads and writes.
struct KernelTime {
  std::string kernel;  // its name in plans
  std::int64_t bytes = 0;
  plan::Picoseconds time = 0;
};

/// The times that one CPU core needs to encode and to decode a network's gradients with one codec;
/// each is a median. `paceline profile --codecs` measures them.
struct CodecTime {
  std::string codec;                     // with its options, as in a strategy
  std::int64_t bytes = 0;                // size of the encoded gradients
  plan::Picoseconds copy{};              // memcpy of the gradients, measured in the same run
  plan::Picoseconds encode{}, decode{};  // times if two ranks take part
  std::vector<KernelTime> kernels{};     // times of the single kernels of encoding and decoding
};

}  // namespace paceline::cluster
