// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/plan/profile.h"

namespace paceline::cluster {

/// How long a kernel took for the bytes that it reads and writes.
struct KernelTime {
  std::string kernel;  // as plans write it
  std::int64_t bytes = 0;
  plan::Picoseconds time = 0;
};

/// How long one core took to code a network's gradients, medians.
/// `paceline profile --codecs` measures it.
struct CodecTime {
  std::string codec;                     // as in a strategy, with its options
  std::int64_t bytes = 0;                // of the gradients
  plan::Picoseconds copy{};              // memcpy of them, in the same run
  plan::Picoseconds encode{}, decode{};  // among two ranks
  std::vector<KernelTime> kernels{};     // of both
};

}  // namespace paceline::cluster
