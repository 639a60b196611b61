// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "paceline/launch/board.h"

namespace paceline::comm {

/// A board on a c10d store, over a connection of its own: a store's calls
/// exclude each other, and one that waits for a key would stop the heart.
std::unique_ptr<launch::Board> make_store_board(
    const c10::intrusive_ptr<c10d::Store>& store);

}  // namespace paceline::comm
