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

/// An op of a step that another op waits for or excludes.
struct Edge {
  Step step = 0;
  OpIndex op = 0;

  friend auto operator<=>(const Edge&, const Edge&) = default;
};

/// For each op of a step, the ops that it waits for and those that it excludes; each list is
/// sorted.
struct Dependencies {
  std::vector<std::vector<Edge>> waits_for;  // ops that must be complete before this op is issued
  std::vector<std::vector<Edge>> excludes;   // ops that must not run at the same time as this op
};

/// Derives, step after step, which ops wait for which from the elements that they read and write
/// (docs/plan-language.md, hazards and slack).
///
/// Two ops that access the same elements, at least one of them writing, keep program order if their
/// steps differ by at least the larger slack of the two accesses.  If the steps are nearer, the ops
/// exclude each other, which is recorded at the later op.  A wait is omitted if it follows from
/// other waits of the same or the previous step.
///
/// The dependencies are complete only with one more rule that executors obey: model work runs in
/// phases.  All Forward of a micro-batch precede all of its Backward, which precede the next
/// micro-batch and the next step.  Within a phase no order is assumed.
class DependencyAnalyzer {
 public:
  DependencyAnalyzer(const ModelShape& model, const Setup& setup);

  /// Returns the dependencies of step `step`, which must be after the last opened step.
  Dependencies open(Step step, const CommPlan& plan);

  /// Drops the history of the steps before `step`, whose ops must all be complete.  Later
  /// dependencies do not name these ops.  Without this call the history of elements that are read
  /// and never written grows without bound.
  void forget_before(Step step);

  /// Renumbers all steps in the history: adds `by` to each step number.
  void shift(Step by);

  /// Whether both analyzers, made for the same model and setup, derive the same dependencies for
  /// every plan that is opened next.
  bool has_same_history(const DependencyAnalyzer& other) const;

  /// The number of accesses kept; tests check that it stays bounded.
  std::size_t history_size() const;

 private:
  struct Entry {
    Edge who;
    bool write = false;
    bool represents_dropped = false;  // represents dropped entries too: ops wait for it even if
                                      // their slack would allow them not to
    Step slack = 0;

    friend bool operator==(const Entry&, const Entry&) = default;
  };
  struct SegmentHistory {
    Elements end = 0;
    std::vector<Entry> entries;

    friend bool operator==(const SegmentHistory&, const SegmentHistory&) = default;
  };
  struct BufferHistory {  // one buffer, cut into segments at the borders of all slices seen
    std::map<Elements, SegmentHistory> segments;
    Step slack = 0;  // largest slack of all accesses seen, in steps

    friend bool operator==(const BufferHistory&, const BufferHistory&) = default;
  };
  /// A matrix of bits with one row per op, stored in one allocation.
  struct BitRows {
    std::size_t stride = 0;  // words per row
    std::vector<std::uint64_t> words;
    std::span<std::uint64_t> row(std::size_t index) {
      return std::span(words).subspan(index * stride, stride);
    }

    friend bool operator==(const BitRows&, const BitRows&) = default;
  };

  template <class Visit>
  void visit_segments(const Slice& slice, Visit visit);
  void find(Edge me, std::vector<Edge>& waits, std::vector<Edge>& excludes);
  void remember(Edge me);
  void forget_all();
  static void drop_covered(SegmentHistory& segment, Step now, Step slack);
  void start_step(Step step, const CommPlan& plan);
  void start_op(const Op& op, std::size_t index);
  void finish_op(const Op& op, std::size_t index);
  void reduce(std::size_t index, std::vector<Edge>& waits);

  Accesses accesses_;
  std::vector<BufferHistory> buffer_histories_;
  std::vector<AccessedRange> accessed_ranges_;  // the ranges that the current op accesses

  // For each op, one bit for every op that is known to be complete when it is issued.  The first
  // words_per_step_ words of a row stand for ops of the same step, the other words for ops of the
  // previous step.
  Step step_ = -1;
  std::size_t words_per_step_ = 0;
  BitRows completed_before_;
  BitRows previous_completed_before_;        // of the previous step; only the first words are used
  std::vector<std::uint64_t> before_phase_;  // ops that precede the current phase
  std::vector<std::uint64_t> phase_;         // ops of the current phase, and ops that precede these
  int phase_id_ = -1;                        // the current phase: 2 micro + (backward ? 1 : 0)
};

}  // namespace paceline::plan
