// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::plan {

/// One range that an op reads or writes. `slack` is that of Access.
struct AccessedRange {
  Slice slice;
  bool write = false;
  Step slack = 0;
};

/// Computes the ranges that ops read and write, under one setup.
///
/// Forward of a module reads the values of its parameters and writes its statistics if the setup
/// has a buffer for them.  Backward of a parameter reads its value and writes its gradient, which
/// micro-batches after the first also read.
class Accesses {
 public:
  Accesses(const ModelShape& model, const Setup& setup);

  /// Replaces the contents of `accessed_ranges` by the ranges that `op` reads and writes; empty
  /// slices are left out.
  void of(const Op& op, std::vector<AccessedRange>& accessed_ranges) const;

 private:
  std::vector<std::vector<Slice>> values_;  // values of the parameters of each module
  std::vector<Slice> statistics_;           // by module; empty if the setup has no statistics
  std::vector<ParameterPlacement> parameters_;
};

/// Returns, for each buffer, the ranges that a rank reads or writes in any variant of its plan,
/// disjoint and in ascending order.  Ranges that overlap or adjoin are merged.  `counts` selects
/// the accesses to include; an empty function includes all.
std::vector<std::vector<Slice>> touched_ranges(
    const Planner& planner, const PlanInput& input, const Setup& setup,
    const std::function<bool(const Op&, const AccessedRange&)>& counts = {});

/// Returns the largest Access::slack of the plan's kernels, in steps.
Step largest_slack_steps(const CommPlan& plan);

/// Whether an op of the plan may read values that are some steps old (Access::slack). The result of
/// the plan then depends on timing.
inline bool has_slack(const CommPlan& plan) { return largest_slack_steps(plan) > 0; }

inline bool overlap(const Slice& left, const Slice& right) {
  return left.buffer == right.buffer && left.begin < right.begin + right.count &&
         right.begin < left.begin + left.count;
}

}  // namespace paceline::plan
