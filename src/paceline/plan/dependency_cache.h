// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "paceline/plan/dependency_analyzer.h"

namespace paceline::plan {

/// A DependencyAnalyzer that caches its results.
///
/// The dependencies of a step depend only on the step's plan and on the analyzer's history, with
/// steps counted relative to the step.  The cache is a graph whose nodes are histories; opening a
/// plan or forgetting steps leads from one history to the next.  A job that repeats its variants,
/// and whose steps overlap in the same way, returns to earlier histories and derives no more
/// dependencies.
///
/// Plans are compared by address, so equal plans must be one object.
class DependencyCache {
 public:
  DependencyCache(const ModelShape& model, const Setup& setup);

  /// Returns the dependencies of the step after the last opened one.  The steps of their edges are
  /// relative: 0 is the step itself, -1 the one before.
  std::shared_ptr<const Dependencies> open(const std::shared_ptr<const CommPlan>& plan);

  /// Works as DependencyAnalyzer::forget_before, but `step` is relative to the next step to open: 0
  /// forgets all steps, -1 all but the last opened one.
  void forget_before(Step step);

  /// The number of times that dependencies were not in the cache and have been derived.
  std::size_t derived() const { return derived_; }

 private:
  // A node of the graph: the history of an analyzer whose next step is step 0, and the transitions
  // to the histories that follow it.
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

  State* state_of(DependencyAnalyzer analyzer);
  void limit_states();

  std::vector<std::unique_ptr<State>> states_;
  State* now_;
  std::size_t derived_ = 0;
};

}  // namespace paceline::plan
