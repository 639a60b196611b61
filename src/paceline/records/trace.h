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

/// What one rank did from `start_ns` for `duration_ns`.  All ranks' starts are on one clock; its
/// zero is free.
struct Span {
  std::string name;      // "layer1.0.conv1", "all-reduce bucket 3"
  std::string category;  // forward, backward, wait, transfer, update
  int rank = 0;
  int section = 0;
  Track track = Track::kForward;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::map<std::string, std::int64_t> args;  // {"bytes", ...}, units in keys
};

/// What a rank did.  A span's track, its category, the beginning of its name and the keys of its
/// args follow from it, so that measured and predicted traces have the same.
enum class Activity : std::uint8_t {
  kForward,   // of the training thread, waits included
  kBackward,  // likewise
  kWait,      // the training thread stood before what the name says
  kUpdate,    // a kernel beside model work
  kTransfer   // from its issue to the engine's report
};

struct SpanArgs {
  std::optional<std::int64_t> step{};
  std::optional<std::int64_t> bytes{};  // of a transfer: its payload, of
                                        // messages what this rank sends
};

/// A span without rank and times.
Span make_span(Activity activity, std::string name, const SpanArgs& args);

/// What a trace calls its parts.
struct TraceNames {
  std::map<int, std::string> ranks{};   // beside a rank's number: a host
  std::vector<std::string> sections{};  // before a rank, where there are several
};

/// Writes the spans of all ranks as one file in the Trace Event Format (JSON object form), which
/// ui.perfetto.dev and chrome://tracing open: a process
/// per section and rank, a thread per track.  Spans of a track that overlap without one holding the
/// other get further threads, as a viewer shows only nested spans in one row.  Times count from the
/// earliest span.
void write_trace(std::ostream& out, std::vector<Span> spans, const TraceNames& names = {});

/// Writes the trace of write_trace() into a file, whole or not at all.  Throws
/// `WorldError`.
void write_trace_file(const std::string& path, std::vector<Span> spans,
                      const TraceNames& names = {});

}  // namespace paceline::records
