// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/strategies/merge.h"
#include "paceline/strategies/periodic_merge.h"

namespace paceline::strategies {
namespace {

constexpr int kMostTriedChanges = 4'000;  // largest number of changes that one search tries

/// For each tensor, whether a bucket ends after it; after the last tensor one always does.
using BucketEnds = std::vector<char>;

std::vector<std::size_t> sizes_of(const BucketEnds& cuts) {
  std::vector<std::size_t> sizes;
  std::size_t size = 0;
  for (const char cut : cuts) {
    ++size;
    if (cut != 0) {
      sizes.push_back(std::exchange(size, 0));
    }
  }
  return sizes;
}

BucketEnds cuts_of(const std::vector<std::size_t>& sizes) {
  BucketEnds cuts;
  for (const std::size_t size : sizes) {
    cuts.insert(cuts.end(), size - 1, 0);
    cuts.push_back(1);
  }
  return cuts;
}

bool is_better(const PredictedCut& left, const PredictedCut& right) {
  return std::tuple(left.step, left.end, left.sizes.size()) <
         std::tuple(right.step, right.end, right.sizes.size());
}

/// Predicts the steps of the cuts that are tried, and keeps the best cut.
class BestCutSearch {
 public:
  BestCutSearch(const StepTimings& step, const TransferTime& time) : step_(step), time_(time) {}

  bool try_cut(const BucketEnds& cuts) {
    ++tried_;
    PredictedCut here = step_of(step_, time_, sizes_of(cuts));
    if (!best_.sizes.empty() && !is_better(here, best_)) {
      return false;
    }
    best_ = std::move(here);
    return true;
  }

  int tried() const { return tried_; }
  const PredictedCut& best() const { return best_; }

 private:
  const StepTimings& step_;
  const TransferTime& time_;
  PredictedCut best_;
  int tried_ = 0;
};

/// The cut into buckets that close at `threshold` bytes, as in fusion.
BucketEnds cut_at_threshold(const StepTimings& step, std::int64_t threshold) {
  BucketEnds cuts(step.tensors.size(), 0);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    bytes += step.tensors[i].bytes;
    if (bytes >= threshold || i + 1 == cuts.size()) {
      cuts[i] = 1;
      bytes = 0;
    }
  }
  return cuts;
}

/// Tries some simple cuts: one bucket per tensor; buckets of 2^k bytes, up to one bucket of all
/// tensors; the cut of the greedy rule; and the best cuts under the assumption that transfers run
/// one by one with none, a part, or all of the start-up time.
void try_simple(const StepTimings& step, const TransferTime& time, BestCutSearch& search) {
  std::int64_t total = 0;
  std::vector<ReadyTensor> ready;
  for (const StepTensor& tensor : step.tensors) {
    total += tensor.bytes;
    ready.push_back({.bytes = tensor.bytes, .ready = tensor.ready});
  }
  for (std::int64_t bytes = 1; bytes < 2 * total; bytes *= 2) {
    search.try_cut(cut_at_threshold(step, bytes));
  }
  search.try_cut(cuts_of(greedy_merge(ready, time)));
  constexpr int kParts = 8;
  for (int part = 0; part <= kParts; ++part) {
    const TransferTime in_turn(
        [&](std::int64_t bytes) { return time(bytes) - time.start(bytes) / kParts * part; });
    search.try_cut(cuts_of(best_step(step, in_turn).sizes));
  }
}

/// Returns the cuts that differ from `cuts` in one border: inserted or removed at `place`, or moved
/// between `place` and the next position.
std::vector<BucketEnds> changes_at(const BucketEnds& cuts, std::size_t place) {
  std::vector<BucketEnds> changes(1, cuts);
  changes[0][place] = cuts[place] == 0 ? 1 : 0;
  if (place + 2 < cuts.size() && cuts[place] != cuts[place + 1]) {
    changes.push_back(cuts);
    std::swap(changes[1][place], changes[1][place + 1]);
  }
  return changes;
}

/// Improves the best cut at one position after the other, in turn, until no change helps.
void improve_by_hill_climbing(BestCutSearch& search) {
  const std::size_t places = cuts_of(search.best().sizes).size() - 1;
  const int most = search.tried() + kMostTriedChanges;
  std::size_t unchanged = 0;
  for (std::size_t n = 0; unchanged < places && search.tried() < most; ++n) {
    ++unchanged;
    for (const BucketEnds& changed : changes_at(cuts_of(search.best().sizes), n % places)) {
      unchanged = search.try_cut(changed) ? 0 : unchanged;
    }
  }
}

/// Tries all 2^(n-1) cuts of n = `count` tensors.
void try_all(std::size_t count, BestCutSearch& search) {
  BucketEnds cuts(count, 1);
  for (std::uint32_t bits = 0; bits < (1U << (count - 1)); ++bits) {
    for (std::size_t i = 0; i + 1 < count; ++i) {
      cuts[i] = static_cast<char>((bits >> i) & 1U);
    }
    search.try_cut(cuts);
  }
}

}  // namespace

PredictedCut best_concurrent(const StepTimings& step, const TransferTime& time) {
  BestCutSearch search(step, time);
  const bool tries_all = step.tensors.size() <= kTriedTensors;
  if (tries_all) {
    try_all(step.tensors.size(), search);
  } else {
    try_simple(step, time, search);
    improve_by_hill_climbing(search);
  }
  PredictedCut best = search.best();
  best.is_least = tries_all;
  return best;
}

}  // namespace paceline::strategies
