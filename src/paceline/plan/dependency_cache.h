// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "paceline/plan/dependency_analyzer.h"

namespace paceline::plan {

/// A DependencyAnalyzer that derives nothing twice.
///
/// The dependencies of a step follow from the step's plan and from the analyzer's history, counted
/// back from the step.  The cache is a graph whose nodes are histories; opening a plan or
/// forgetting steps leads from one history to the next.  A job that repeats its variants, and whose
/// steps overlap alike, returns to known histories and derives nothing any more.
///
/// Plans are compared by address, so equal plans must be one object.
class DependencyCache {
 public:
  DependencyCache(const ModelShape& model, const Setup& setup);

  /// The dependencies of the step after the last one opened, its edges' steps counted from it: 0 is
  /// the step itself, -1 the one before.
  std::shared_ptr<const Dependencies> open(const std::shared_ptr<const CommPlan>& plan);

  /// As DependencyAnalyzer::forget_before; `step` is counted from the next one to open: 0 forgets
  /// everything, -1 all but the last one opened.
  void forget_before(Step step);

  /// How many times dependencies were derived so far.
  std::size_t derived() const { return derived_; }

 private:
  // A history: an analyzer whose next step is step 0, and where it leads.
  struct State {
    DependencyAnalyzer analyzer;
    struct Opened {
      std::shared_ptr<const CommPlan> plan;
      std::shared_ptr<const Dependencies> dependencies;
      State* next;
    };
    std::vector<Opened> opened;
    std::map<Step, State*> forgotten;
  };

  State* known(DependencyAnalyzer analyzer);
  void bound();

  std::vector<std::unique_ptr<State>> states_;
  State* now_;
  std::size_t derived_ = 0;
};

}  // namespace paceline::plan
