// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/trace.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/file.h"

namespace paceline::records {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kTrackNames{"forward", "backward", "update",
                                                      "communication"};
constexpr int kMaxRowsPerTrack = 1000;  // most rows of a track; its thread ids

struct ActivityTraits {
  std::string_view category;
  Track track;
  std::string_view before;  // put before the name
};

constexpr std::array<ActivityTraits, 5> kKinds{{
    {"forward", Track::kForward, ""},
    {"backward", Track::kBackward, ""},
    {"wait", Track::kForward, "wait for "},
    {"update", Track::kUpdate, ""},
    {"transfer", Track::kComm, ""},
}};

// The end times of the spans that are open in one row of a trace, the outermost first.
using OpenSpanEnds = std::vector<std::int64_t>;

// Assigns each span of a track to the first row in which it overlaps no other span, except spans
// that contain it.
class RowPlacement {
 public:
  std::size_t place(const Span& span) {
    const std::int64_t end = span.start_ns + span.duration_ns;
    for (std::size_t i = 0;; ++i) {
      if (i == lanes_.size()) {
        lanes_.emplace_back();
      }
      OpenSpanEnds& open = lanes_[i];
      while (!open.empty() && open.back() <= span.start_ns) {
        open.pop_back();
      }
      if (open.empty() || end <= open.back()) {
        open.push_back(end);
        return i;
      }
    }
  }

 private:
  std::vector<OpenSpanEnds> lanes_;
};

// Writes the events one by one, so that the text is not in memory twice.
class EventList {
 public:
  explicit EventList(std::ostream& out) : out_(out) {
    out_ << R"({"displayTimeUnit":"ms","traceEvents":[)";
  }
  void add(const ordered_json& event) {
    out_ << (first_ ? "\n" : ",\n")
         << event.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    first_ = false;
  }
  void finish() { out_ << "\n]}\n"; }

 private:
  std::ostream& out_;
  bool first_ = true;
};

ordered_json metadata(std::string_view what, int process, int thread, ordered_json args) {
  return {
      {"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", std::move(args)}};
}

void name_process(EventList& events, const Span& span, int process, const TraceNames& names) {
  std::string text = fmt::format("rank {}", span.rank);
  if (const auto name = names.ranks.find(span.rank); name != names.ranks.end()) {
    text += fmt::format(" ({})", name->second);
  }
  if (names.sections.size() > 1) {
    text = fmt::format("{}: {}", names.sections.at(static_cast<std::size_t>(span.section)), text);
  }
  events.add(metadata("process_name", process, 0, {{"name", text}}));
  events.add(metadata("process_sort_index", process, 0, {{"sort_index", process}}));
}

void name_thread(EventList& events, int process, Track track, int thread) {
  const int lane = thread % kMaxRowsPerTrack;
  std::string text(kTrackNames.at(static_cast<std::size_t>(track)));
  if (lane > 0) {
    text += fmt::format(" {}", lane + 1);
  }
  events.add(metadata("thread_name", process, thread, {{"name", text}}));
  events.add(metadata("thread_sort_index", process, thread, {{"sort_index", thread}}));
}

/// The row in which a span is shown: the ids of a process and a thread in the trace.
struct TraceRow {
  int process = 0, thread = 0;
};

// Adds a span, with times in microseconds, the unit of the format.
void add_span(EventList& events, const Span& span, const TraceRow& row, std::int64_t zero_ns) {
  ordered_json event{{"ph", "X"},
                     {"name", span.name},
                     {"cat", span.category},
                     {"pid", row.process},
                     {"tid", row.thread},
                     {"ts", static_cast<double>(span.start_ns - zero_ns) / 1e3},
                     {"dur", static_cast<double>(span.duration_ns) / 1e3}};
  if (!span.args.empty()) {
    event["args"] = span.args;
  }
  events.add(event);
}

// Sorts by section, rank and track; within a track by start and then with the longer span first, so
// that a span comes before those that it contains.
void sort_spans(std::vector<Span>& spans) {
  const auto place = [](const Span& s) {
    return std::tuple(s.section, s.rank, s.track, s.start_ns, -s.duration_ns);
  };
  std::stable_sort(spans.begin(), spans.end(),
                   [&](const Span& a, const Span& b) { return place(a) < place(b); });
}

std::int64_t earliest(const std::vector<Span>& spans) {
  const auto first = std::min_element(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.start_ns < b.start_ns;
  });
  return first == spans.end() ? 0 : first->start_ns;
}

}  // namespace

Span make_span(Activity activity, std::string name, const SpanArgs& args) {
  const ActivityTraits& kind = kKinds.at(static_cast<std::size_t>(activity));
  Span span{.name = std::string(kind.before) + std::move(name),
            .category = std::string(kind.category),
            .track = kind.track,
            .args = {}};
  if (args.step) {
    span.args["step"] = *args.step;
  }
  if (args.bytes) {
    span.args["bytes"] = *args.bytes;
  }
  return span;
}

void write_trace(std::ostream& out, std::vector<Span> spans, const TraceNames& names) {
  sort_spans(spans);
  const std::int64_t zero_ns = earliest(spans);
  int ranks = 0;  // the largest rank number plus 1
  for (const Span& span : spans) {
    ranks = std::max(ranks, span.rank + 1);
  }
  EventList events(out);
  std::map<int, std::map<Track, RowPlacement>> lanes;  // rows of each track, by process
  std::map<int, std::set<int>> named;                  // threads that have a name, by process
  for (const Span& span : spans) {
    const int process = span.section * ranks + span.rank;
    if (!lanes.contains(process)) {
      name_process(events, span, process, names);
    }
    const std::size_t lane = lanes[process][span.track].place(span);
    const int thread = static_cast<int>(span.track) * kMaxRowsPerTrack +
                       static_cast<int>(std::min<std::size_t>(lane, kMaxRowsPerTrack - 1));
    if (named[process].insert(thread).second) {
      name_thread(events, process, span.track, thread);
    }
    add_span(events, span, {process, thread}, zero_ns);
  }
  events.finish();
}

void write_trace_file(const std::string& path, std::vector<Span> spans, const TraceNames& names) {
  std::ostringstream text;
  write_trace(text, std::move(spans), names);
  write_atomically(path, text.str());
}

}  // namespace paceline::records
