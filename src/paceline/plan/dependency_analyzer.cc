// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/dependency_analyzer.h"

#include <algorithm>
#include <iterator>

#include "paceline/base/error.h"

namespace paceline::plan {
namespace {

constexpr std::size_t kWordBits = 64;

bool has(std::span<const std::uint64_t> bits, std::size_t index) {
  return ((bits[index / kWordBits] >> (index % kWordBits)) & 1U) != 0;
}

void set(std::span<std::uint64_t> bits, std::size_t index) {
  bits[index / kWordBits] |= std::uint64_t{1} << (index % kWordBits);
}

/// Sets in `bits` the bits that are set in `more`, which may be shorter.
void set_all_bits_of(std::span<std::uint64_t> bits, std::span<const std::uint64_t> more) {
  for (std::size_t i = 0; i < more.size(); ++i) {
    bits[i] |= more[i];
  }
}

/// The number of the op's phase, 2 micro + (backward ? 1 : 0); -1 if `op` is not model work.
int phase_of(const Op& op) {
  if (const auto* forward = std::get_if<Forward>(&op.work)) {
    return 2 * forward->micro;
  }
  if (const auto* backward = std::get_if<Backward>(&op.work)) {
    return 2 * backward->micro + 1;
  }
  return -1;
}

void sort_unique(std::vector<Edge>& refs) {
  std::ranges::sort(refs);
  refs.erase(std::unique(refs.begin(), refs.end()), refs.end());
}

}  // namespace

DependencyAnalyzer::DependencyAnalyzer(const ModelShape& model, const Setup& setup)
    : accesses_(model, setup) {
  for (const Buffer& buffer : setup.buffers) {
    BufferHistory space;
    space.segments.emplace(0, SegmentHistory{buffer.elements, {}});
    buffer_histories_.push_back(std::move(space));
  }
}

Dependencies DependencyAnalyzer::open(Step step, const CommPlan& plan) {
  PACELINE_CHECK(step > step_);
  start_step(step, plan);
  Dependencies dependencies;
  dependencies.waits_for.resize(plan.ops.size());
  dependencies.excludes.resize(plan.ops.size());
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    const Edge me{step, static_cast<OpIndex>(i)};
    std::vector<Edge>& waits = dependencies.waits_for[i];
    std::vector<Edge>& excludes = dependencies.excludes[i];
    accesses_.of(op, accessed_ranges_);
    find(me, waits, excludes);
    for (const OpIndex earlier : op.after) {
      PACELINE_CHECK(earlier >= 0 && earlier < me.op);
      waits.push_back({step, earlier});
    }
    sort_unique(waits);
    sort_unique(excludes);
    std::erase_if(excludes,
                  [&](const Edge& other) { return std::ranges::binary_search(waits, other); });
    start_op(op, i);
    reduce(i, waits);
    finish_op(op, i);
    remember(me);
  }
  return dependencies;
}

/// Visits the segments that make up `slice`, after cutting segments at its ends.
template <class Visit>
void DependencyAnalyzer::visit_segments(const Slice& slice, Visit visit) {
  auto& segments = buffer_histories_[index_of(slice.buffer)].segments;
  const Elements end = slice.begin + slice.count;
  for (const Elements cut : {slice.begin, end}) {
    const auto at = std::prev(segments.upper_bound(cut));
    if (at->first < cut && cut < at->second.end) {
      SegmentHistory right = at->second;
      at->second.end = cut;
      segments.emplace_hint(std::next(at), cut, std::move(right));
    }
  }
  const auto last = segments.lower_bound(end);
  for (auto it = segments.find(slice.begin); it != last; ++it) {
    visit(it->second);
  }
}

void DependencyAnalyzer::find(Edge me, std::vector<Edge>& waits, std::vector<Edge>& excludes) {
  for (const AccessedRange& touch : accessed_ranges_) {
    visit_segments(touch.slice, [&](const SegmentHistory& segment) {
      for (const Entry& entry : segment.entries) {
        if (!touch.write && !entry.write) {
          continue;
        }
        const bool strict = entry.represents_dropped ||
                            me.step - entry.who.step >= std::max(touch.slack, entry.slack);
        (strict ? waits : excludes).push_back(entry.who);
      }
    });
  }
}

void DependencyAnalyzer::remember(Edge me) {
  // Writes come first, so that an element which the op reads and writes needs one entry only.
  std::stable_partition(accessed_ranges_.begin(), accessed_ranges_.end(),
                        [](const AccessedRange& touch) { return touch.write; });
  for (const AccessedRange& touch : accessed_ranges_) {
    const Step slack = buffer_histories_[index_of(touch.slice.buffer)].slack;
    visit_segments(touch.slice, [&](SegmentHistory& segment) {
      const bool known = std::ranges::any_of(segment.entries, [&](const Entry& entry) {
        return entry.who == me && (entry.write || !touch.write) && entry.slack <= touch.slack;
      });
      if (!known) {
        segment.entries.push_back({me, touch.write, false, touch.slack});
      }
      drop_covered(segment, me.step, slack);
    });
  }
}

/// Drops entries of a segment's history that no later op needs. A newest write that all later ops
/// wait for replaces the entries that this write has itself waited for. With a largest slack of
/// `slack`, every op from step `now` on waits for the writes of steps up to `now` - `slack`.
void DependencyAnalyzer::drop_covered(SegmentHistory& segment, Step now, Step slack) {
  auto& entries = segment.entries;
  const auto newest = std::find_if(entries.rbegin(), entries.rend(), [&](const Entry& entry) {
    return entry.write && now - entry.who.step >= slack;
  });
  if (newest == entries.rend() || std::next(newest) == entries.rend()) {
    return;
  }
  const auto cover = std::prev(newest.base());
  const Entry represents_dropped = *cover;
  const auto kept = std::remove_if(entries.begin(), cover, [&](const Entry& entry) {
    return entry.who != represents_dropped.who &&
           represents_dropped.who.step - entry.who.step >=
               std::max(represents_dropped.slack, entry.slack);
  });
  if (kept != cover) {
    cover->represents_dropped = true;
    entries.erase(kept, cover);
  }
}

void DependencyAnalyzer::forget_before(Step step) {
  if (step > step_) {
    forget_all();
    return;
  }
  for (BufferHistory& space : buffer_histories_) {
    for (auto& [begin, segment] : space.segments) {
      std::erase_if(segment.entries, [&](const Entry& entry) { return entry.who.step < step; });
    }
  }
}

void DependencyAnalyzer::forget_all() {
  for (BufferHistory& space : buffer_histories_) {
    const Elements end = space.segments.rbegin()->second.end;
    space.segments.clear();
    space.segments.emplace(0, SegmentHistory{end, {}});
  }
  words_per_step_ = 0;
  for (BitRows* rows : {&completed_before_, &previous_completed_before_}) {
    *rows = {};
  }
  before_phase_.clear();
  phase_.clear();
  phase_id_ = -1;
}

void DependencyAnalyzer::shift(Step by) {
  step_ += by;
  for (BufferHistory& space : buffer_histories_) {
    for (auto& [begin, segment] : space.segments) {
      for (Entry& entry : segment.entries) {
        entry.who.step += by;
      }
    }
  }
}

// The comparison omits previous_completed_before_, because the next step does not read it.
bool DependencyAnalyzer::has_same_history(const DependencyAnalyzer& other) const {
  return step_ == other.step_ && buffer_histories_ == other.buffer_histories_ &&
         words_per_step_ == other.words_per_step_ && completed_before_ == other.completed_before_ &&
         before_phase_ == other.before_phase_ && phase_ == other.phase_;
}

std::size_t DependencyAnalyzer::history_size() const {
  std::size_t size = 0;
  for (const BufferHistory& space : buffer_histories_) {
    for (const auto& [begin, segment] : space.segments) {
      size += segment.entries.size();
    }
  }
  return size;
}

void DependencyAnalyzer::start_step(Step step, const CommPlan& plan) {
  for (const Op& op : plan.ops) {
    if (const auto* kernel = std::get_if<Kernel>(&op.work)) {
      for (const auto* list : {&kernel->reads, &kernel->writes}) {
        for (const Access& access : *list) {
          Step& largest = buffer_histories_[index_of(access.slice.buffer)].slack;
          largest = std::max(largest, access.slack);
        }
      }
    }
  }
  const bool follows = step == step_ + 1;
  previous_completed_before_ = std::move(completed_before_);
  const std::size_t previous_width = follows ? words_per_step_ : 0;
  std::vector<std::uint64_t> model_work(previous_width);
  if (follows) {
    set_all_bits_of(model_work, std::span(before_phase_).first(words_per_step_));
    set_all_bits_of(model_work, std::span(phase_).first(words_per_step_));
  }
  step_ = step;
  words_per_step_ = (plan.ops.size() + kWordBits - 1) / kWordBits;
  completed_before_.stride = words_per_step_ + previous_width;
  completed_before_.words.assign(completed_before_.stride * plan.ops.size(), 0);
  before_phase_.assign(words_per_step_, 0);
  before_phase_.insert(before_phase_.end(), model_work.begin(), model_work.end());
  phase_.assign(completed_before_.stride, 0);
  phase_id_ = -1;
}

void DependencyAnalyzer::start_op(const Op& op, std::size_t index) {
  const int phase = phase_of(op);
  if (phase < 0) {
    return;
  }
  if (phase != phase_id_) {
    set_all_bits_of(before_phase_, phase_);
    phase_id_ = phase;
  }
  set_all_bits_of(completed_before_.row(index), before_phase_);
}

void DependencyAnalyzer::finish_op(const Op& op, std::size_t index) {
  if (phase_of(op) >= 0) {
    set_all_bits_of(phase_, completed_before_.row(index));
    set(phase_, index);
  }
}

/// Removes the waits that follow from other waits; checks the newest waits first.
void DependencyAnalyzer::reduce(std::size_t index, std::vector<Edge>& waits) {
  const auto mine = completed_before_.row(index);
  const auto previous = mine.subspan(words_per_step_);
  std::vector<Edge> kept;
  for (auto it = waits.rbegin(); it != waits.rend(); ++it) {
    const auto op = static_cast<std::size_t>(it->op);
    const bool here = it->step == step_;
    if (!here && (it->step != step_ - 1 || previous.empty())) {
      kept.push_back(*it);
    } else if (here ? !has(mine, op) : !has(previous, op)) {
      kept.push_back(*it);
      if (here) {
        set_all_bits_of(mine, completed_before_.row(op));
        set(mine, op);
      } else {
        set_all_bits_of(previous, previous_completed_before_.row(op).first(previous.size()));
        set(previous, op);
      }
    }
  }
  waits.assign(kept.rbegin(), kept.rend());
}

}  // namespace paceline::plan
