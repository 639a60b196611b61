// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "paceline/plan/linker.h"

namespace paceline::plan {

/// A Linker that derives nothing twice.
///
/// What a step's links are follows from its plan and from the linker's history,
/// counted back from the step.  The cache is the graph of these histories: from
/// one to the next by opening a plan or by forgetting steps.  Where a job
/// repeats its variants, and its steps overlap alike, it walks in a circle of
/// known histories and nothing is derived any more.
///
/// A plan is known by its address, so equal plans must be one object.
class LinkCache {
 public:
  LinkCache(const ModelShape& model, const Setup& setup);

  /// The links of the step after the last one opened, its edges' steps counted
  /// from it: 0 is the step itself, -1 the one before.
  std::shared_ptr<const Links> open(
      const std::shared_ptr<const CommPlan>& plan);

  /// As Linker::forget_before; `step` is counted from the next one to open: 0
  /// forgets everything, -1 all but the last one opened.
  void forget_before(Step step);

  /// How many times links were derived so far.
  std::size_t derived() const { return derived_; }

 private:
  // A history: a linker whose next step is step 0, and where it leads.
  struct State {
    Linker linker;
    struct Opened {
      std::shared_ptr<const CommPlan> plan;
      std::shared_ptr<const Links> links;
      State* next;
    };
    std::vector<Opened> opened;
    std::map<Step, State*> forgotten;
  };

  State* known(Linker linker);
  void bound();

  std::vector<std::unique_ptr<State>> states_;
  State* now_;
  std::size_t derived_ = 0;
};

}  // namespace paceline::plan
