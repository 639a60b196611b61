// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/comm_plan.h"

namespace paceline::runtime {

/// The optimizer with its own constants; the learning rate is an operand, but
/// for rows of embedding tables: no training thread sets it on their servers.
struct OptimizerSettings {
  std::string name = "sgd";  // an optimizer of plan/optimizer.h
  double momentum = 0.9;     // sgd
  double weight_decay = 1e-4;
  /// Parameters of one dimension or none that have no weight decay, ascending;
  /// empty: all have it.
  std::vector<plan::Slice> undecayed{};
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
