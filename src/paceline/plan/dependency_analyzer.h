// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "paceline/plan/access.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::plan {

/// An op of a step that another one waits for, or excludes.
struct Edge {
  Step step = 0;
  OpIndex op = 0;

  friend auto operator<=>(const Edge&, const Edge&) = default;
};

/// What a step's ops wait for, by op index; each list is sorted.
struct Dependencies {
  std::vector<std::vector<Edge>> waits_for;  // must be done before the issue
  std::vector<std::vector<Edge>> excludes;   // must not run at the same time
};

/// Derives, step after step, which ops wait for which from the elements that they read and write
/// (docs/plan-language.md, hazards and slack).
///
/// Two ops that access the same elements, one of them writing, keep program order if their steps
/// differ by at least the larger slack of the two accesses.  If the steps are nearer, the ops
/// exclude each other, which is noted at the later op.  A wait is left out where it follows from
/// other waits of the same or the previous step.
///
/// The dependencies are complete under one more rule that executors keep: model work is done in
/// phases.  All Forward of a micro-batch precede all of its Backward, which precede the next
/// micro-batch and the next step.  Within a phase no order is assumed.
class DependencyAnalyzer {
 public:
  DependencyAnalyzer(const ModelShape& model, const Setup& setup);

  /// Dependencies of step `step`, which must follow the last one opened.
  Dependencies open(Step step, const CommPlan& plan);

  /// The caller says that every op of the steps before `step` is complete. Later dependencies do
  /// not name these ops, and their history is dropped. Without this call the history of elements
  /// that are read and never written grows without bound.
  void forget_before(Step step);

  /// Adds `by` to the number of every step.
  void shift(Step by);

  /// Whether both, made for the same model and setup, derive the same dependencies for every plan
  /// that is opened next.
  bool remembers_as(const DependencyAnalyzer& other) const;

  /// The number of accesses kept; tests check that it stays bounded.
  std::size_t history_size() const;

 private:
  struct Entry {
    Edge who;
    bool write = false;
    bool floor = false;  // stands for entries dropped behind it: always waited
    Step slack = 0;

    friend bool operator==(const Entry&, const Entry&) = default;
  };
  struct Segment {
    Elements end = 0;
    std::vector<Entry> entries;

    friend bool operator==(const Segment&, const Segment&) = default;
  };
  struct Space {  // one buffer, cut into segments by all slices seen
    std::map<Elements, Segment> segments;
    Step slack = 0;  // largest seen

    friend bool operator==(const Space&, const Space&) = default;
  };
  /// One row of bits per op, in one allocation.
  struct BitRows {
    std::size_t stride = 0;  // words
    std::vector<std::uint64_t> words;
    std::span<std::uint64_t> row(std::size_t index) {
      return std::span(words).subspan(index * stride, stride);
    }

    friend bool operator==(const BitRows&, const BitRows&) = default;
  };

  template <class Visit>
  void each_segment(const Slice& slice, Visit visit);
  void find(Edge me, std::vector<Edge>& waits, std::vector<Edge>& excludes);
  void remember(Edge me);
  void forget_all();
  static void drop_covered(Segment& segment, Step now, Step slack);
  void start_step(Step step, const CommPlan& plan);
  void start_op(const Op& op, std::size_t index);
  void finish_op(const Op& op, std::size_t index);
  void reduce(std::size_t index, std::vector<Edge>& waits);

  Accesses accesses_;
  std::vector<Space> spaces_;
  std::vector<Touch> touches_;  // of the op at hand

  // Which ops are known to be done when an op is issued: a row's first width_ words hold those of
  // its own step, the rest those of the step before.
  Step step_ = -1;
  std::size_t width_ = 0;
  BitRows behind_;
  BitRows previous_behind_;                  // their first words only
  std::vector<std::uint64_t> before_phase_;  // what the phase comes after
  std::vector<std::uint64_t> phase_;         // the phase's ops, and behind them
  int phase_id_ = -1;                        // 2 micro + (backward ? 1 : 0)
};

}  // namespace paceline::plan
