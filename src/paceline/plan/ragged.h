// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "paceline/plan/comm_plan.h"

namespace paceline::plan {

// A buffer with a typical length consists of slices whose true lengths are known at run time only.
// The first eight bytes of such a slice hold, as an I64, the number of elements after them that are
// in use.  Kernels write the length with the elements, and a message carries the length and these
// elements only.  So the receiver, which has room for the whole slice, reads the length from the
// message itself, and no separate message announces it.  Costs and predicted times use the typical
// length; the ledger counts the sent length.  The sender and the receiver each state the typical
// length of their own slices.  A message has the longer of both, so the prediction includes the
// effect of one busy server among idle ones.

inline constexpr std::int64_t kLengthBytes = 8;

/// The number of elements that the length of a ragged slice occupies.
constexpr Elements length_elements(DType dtype) { return kLengthBytes / size_of(dtype); }

}  // namespace paceline::plan
