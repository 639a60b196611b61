// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "paceline/experiment/experiment.h"
#include "paceline/experiment/settings.h"

namespace paceline::experiment {

/// What every rank of a session does: resolved once, by whoever starts the
/// session, so that hosts with other cores or files cannot disagree.
struct Order {
  Experiment experiment;
  Settings settings;      // `records` is settled
  int run = 0;            // which repetition
  bool progress = false;  // rank 0 may draw on stderr
};

/// As text that crosses a file or the store.
std::string to_text(const Order& order);

/// Throws UsageError for text that `to_text` did not write.
Order order_from(std::string_view text);

}  // namespace paceline::experiment
