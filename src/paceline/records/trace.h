// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paceline::records {

/// The rows of a rank in a trace, from top to bottom.
enum class Track : std::uint8_t { kForward, kBackward, kUpdate, kComm };

/// What one rank did from `start_ns` on for `duration_ns`.  The starts of all ranks are on one
/// clock, whose zero is arbitrary.
struct Span {
  std::string name;      // "layer1.0.conv1", "all-reduce bucket 3"
  std::string category;  // forward, backward, wait, transfer, update
  int rank = 0;
  int section = 0;
  Track track = Track::kForward;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::map<std::string, std::int64_t> args;  // such as {"bytes", ...}; units in keys
};

/// What a rank does in a span.  It determines the span's track, its category, the beginning of its
/// name and the keys of its args, so that these are equal in measured and predicted traces.
enum class Activity : std::uint8_t {
  kForward,   // forward pass on the training thread, waits included
  kBackward,  // backward pass on the training thread, waits included
  kWait,      // the training thread waits for what the name says
  kUpdate,    // a kernel that is not model work
  kTransfer   // from its issue until the engine reports its end
};

struct SpanArgs {
  std::optional<std::int64_t> step{};
  std::optional<std::int64_t> bytes{};  // the payload of a transfer; of messages, what this rank
                                        // sends
};

/// Makes a span of this activity; the caller sets its rank and times.
Span make_span(Activity activity, std::string name, const SpanArgs& args);

/// The names that a trace shows for its ranks and sections.
struct TraceNames {
  std::map<int, std::string> ranks{};   // text beside a rank's number: its host
  std::vector<std::string> sections{};  // text before a rank, if there are several sections
};

/// Writes the spans of all ranks as one file in the Trace Event Format (JSON object form), which
/// ui.perfetto.dev and chrome://tracing open: one process per section and rank, one thread per
/// track. Spans of a track that overlap without one containing the other go to further threads,
/// since a viewer shows only nested spans in one row.  Times count from the earliest span.
void write_trace(std::ostream& out, std::vector<Span> spans, const TraceNames& names = {});

/// Writes the trace of write_trace() into a file, whole or not at all.  Throws `WorldError`.
void write_trace_file(const std::string& path, std::vector<Span> spans,
                      const TraceNames& names = {});

}  // namespace paceline::records
