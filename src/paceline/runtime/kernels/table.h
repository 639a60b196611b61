// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/comm_plan.h"

namespace paceline::runtime {

/// The optimizer with its own constants; the learning rate is an operand, but for rows of embedding
/// tables: no training thread sets it on their servers.
struct OptimizerSettings {
  std::string name = "sgd";  // an optimizer of plan/optimizer.h
  double momentum = 0.9;     // sgd
  double weight_decay = 1e-4;
  bool nesterov = false;  // sgd
  double rate_decay = 0;  // adagrad
  /// In place of the operand; null: the operand.
  std::optional<double> rate{};
  /// In place of those of the optimizer's row; null: the row's.
  std::optional<std::array<double, 2>> decay_rates{};
  std::optional<double> epsilon{};
  /// False: the update writes the gradients over their divisor, and leaves the values as they are.
  bool updates = true;
  /// Of a group of a layerwise optimizer: each of its slices is a parameter with a rate of its own.
  bool layerwise = false;
  /// Parameters that have constants of their own.
  std::vector<OptimizerSettings> groups{};
  /// Of a group, its values; none lies in two groups.
  std::vector<plan::Slice> slices{};
  std::function<double(std::int64_t step)> rate_of_rows{};
};

struct Call;  // runtime/kernels/call.h

struct KernelInfo {
  std::string_view name;  // of a row of plan/kernel_traits.h
  void (*kernel)(const OptimizerSettings& rule, const Call& call);

  /// Runs the kernel, of which autograd records nothing.
  void run(const OptimizerSettings& rule, const Call& call) const;
};

/// Every kernel that this build has.
std::span<const KernelInfo> kernels();

/// Throws UsageError for a name that is not in the table.
const KernelInfo& find_kernel(std::string_view name);

}  // namespace paceline::runtime
