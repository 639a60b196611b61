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

/// The optimizer with its constants. The learning rate is an operand of the update. Rows of
/// embedding tables are the exception: no training thread sets the rate on their servers, so
/// `rate_of_rows` gives it.
struct OptimizerSettings {
  std::string name = "sgd";  // an optimizer of plan/optimizer.h
  double momentum = 0.9;     // only sgd
  double weight_decay = 1e-4;
  bool nesterov = false;  // only sgd
  double rate_decay = 0;  // only adagrad
  /// Replaces the learning rate operand of the update; null: the operand is used.
  std::optional<double> rate{};
  /// Replaces the values of the optimizer's row in plan/optimizer.h; null: the row's values are
  /// used.
  std::optional<std::array<double, 2>> decay_rates{};
  std::optional<double> epsilon{};
  /// False: the update only divides the gradients by their divisor and leaves the values unchanged.
  bool updates = true;
  /// Set for a group of a layerwise optimizer: each of its slices is one parameter with its own
  /// scale.
  bool layerwise = false;
  /// Groups of parameters that have their own constants.
  std::vector<OptimizerSettings> groups{};
  /// The slices of a group's values; no slice lies in two groups.
  std::vector<plan::Slice> slices{};
  std::function<double(std::int64_t step)> rate_of_rows{};
};

struct Call;  // runtime/kernels/call.h

using KernelFunction = void(const OptimizerSettings& rule, const Call& call);

struct KernelInfo {
  std::string_view name;  // the name of a row of plan/kernel_traits.h
  KernelFunction* kernel = nullptr;

  /// Runs the kernel without recording it in autograd.
  void run(const OptimizerSettings& rule, const Call& call) const;
};

/// Returns every kernel that this build has.
std::span<const KernelInfo> kernels();

/// Throws UsageError for a name that is not in the table.
const KernelInfo& find_kernel(std::string_view name);

}  // namespace paceline::runtime
