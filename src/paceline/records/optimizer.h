// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::records {

/// AdamW with the constants that BERT is pre-trained with: epsilon 1e-6, and
/// weight decay on matrices alone, not on biases and normalizations.
inline constexpr const char* kBertAdamW = "bert-adamw";

/// The update rule, with its state, of a configuration's optimizer: "sgd" or
/// "adamw".
inline std::string update_rule_of(const std::string& optimizer) {
  return optimizer == kBertAdamW ? "adamw" : optimizer;
}

}  // namespace paceline::records
