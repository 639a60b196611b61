// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "paceline/plan/comm_plan.h"

namespace paceline::plan {

// Note [Ragged slices]
// A buffer with a typical length consists of slices whose true lengths are known at run time only.
// The first eight bytes of such a slice hold, as an I64, how many of the elements behind them are
// in use.  Kernels write the length with the elements; a message carries both and nothing behind
// them.  So the receiver, which has room for the whole slice, learns the length from what has
// arrived, and no message goes ahead of another to tell it.  Costs and prices count the typical
// length, the ledger counts what was sent.  Each end says what is typical of its own slices, so
// that one busy server among idle ones is priced as such: a message has the longer of its ends'
// lengths.

inline constexpr std::int64_t kLengthBytes = 8;

/// The elements that the length of a ragged slice takes.
constexpr Elements length_elements(DType dtype) { return kLengthBytes / size_of(dtype); }

}  // namespace paceline::plan
