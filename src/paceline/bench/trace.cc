// SPDX-License-Identifier: Apache-2.0
#include "paceline/bench/trace.h"

#include <filesystem>
#include <optional>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/plan/describe.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::bench {
namespace {

record::Span span_of(const runtime::OpSpan& op,
                     const plan::Op& what,
                     const plan::ModelShape& model,
                     const plan::Setup& setup,
                     int rank) {
  record::Span span;
  span.name = plan::describe(what, model, setup);
  span.rank = rank;
  span.duration_ns = op.end_ns - op.start_ns;
  span.args["step"] = op.ref.step;
  if (op.kind == runtime::OpSpan::Kind::kWait) {
    span.category = "wait";
    span.track = record::Track::kForward;
    span.name = "wait for " + span.name;
    return span;
  }
  if (const auto* collective = std::get_if<plan::Collective>(&what.work)) {
    span.category = "transfer";
    span.track = record::Track::kComm;
    const auto& buffer = setup.buffers[plan::index_of(collective->in.buffer)];
    span.args["bytes"] = collective->in.count * plan::size_of(buffer.dtype);
    return span;
  }
  span.category = "update";
  span.track = record::Track::kUpdate;
  return span;
}

// The step in whose forward or backward `time_ns` lies, else the last before;
// nothing where that was not recorded.
std::optional<std::int64_t> step_at(const std::vector<train::PhaseSpan>& phases,
                                    std::int64_t time_ns) {
  std::optional<std::int64_t> step;
  for (const train::PhaseSpan& phase : phases) {
    if (phase.start_ns <= time_ns) {
      step = phase.step;
    }
  }
  return step;
}

record::Span span_of(const comm::Transfer& transfer,
                     const std::vector<train::PhaseSpan>& phases,
                     int rank) {
  record::Span span;
  span.name = fmt::format("{}, {}, by the Reducer",
                          plan::name_of(transfer.pattern),
                          plan::bytes_text(transfer.payload_bytes));
  span.category = "transfer";
  span.rank = rank;
  span.track = record::Track::kComm;
  span.duration_ns = transfer.end_ns - transfer.start_ns;
  span.args["bytes"] = transfer.payload_bytes;
  if (const auto step = step_at(phases, transfer.start_ns)) {
    span.args["step"] = *step;
  }
  return span;
}

}  // namespace

std::vector<record::Span> spans_of(const Recording& recording,
                                   const plan::ModelShape& model,
                                   const plan::Setup& setup,
                                   int rank,
                                   std::int64_t origin_ns) {
  std::vector<record::Span> spans;
  for (const runtime::OpSpan& op : recording.ops) {
    const plan::Op& what =
        recording.plan_of(op.ref.step).ops[static_cast<std::size_t>(op.ref.op)];
    spans.push_back(span_of(op, what, model, setup, rank));
    spans.back().start_ns = op.start_ns - origin_ns;
  }
  for (const comm::Transfer& transfer : recording.transfers) {
    spans.push_back(span_of(transfer, recording.phases, rank));
    spans.back().start_ns = transfer.start_ns - origin_ns;
  }
  for (const train::PhaseSpan& phase : recording.phases) {
    record::Span span;
    span.name = phase.forward ? "forward" : "backward";
    span.category = span.name;
    span.rank = rank;
    span.track =
        phase.forward ? record::Track::kForward : record::Track::kBackward;
    span.start_ns = phase.start_ns - origin_ns;
    span.duration_ns = phase.end_ns - phase.start_ns;
    span.args["step"] = phase.step;
    spans.push_back(span);
  }
  return spans;
}

std::string trace_path(const std::string& path, int run) {
  if (run == 0) {
    return path;
  }
  std::filesystem::path numbered(path);
  const std::string ending = numbered.extension();
  numbered.replace_extension(fmt::format("run{}{}", run + 1, ending));
  return numbered;
}

std::string to_text(const std::vector<record::Span>& spans) {
  nlohmann::json rows = nlohmann::json::array();
  for (const record::Span& s : spans) {
    rows.push_back({s.name,
                    s.category,
                    s.rank,
                    static_cast<int>(s.track),
                    s.start_ns,
                    s.duration_ns,
                    s.args});
  }
  return rows.dump();
}

std::vector<record::Span> spans_from(const std::string& text) {
  std::vector<record::Span> spans;
  for (const auto& row : nlohmann::json::parse(text)) {
    spans.push_back({.name = row[0],
                     .category = row[1],
                     .rank = row[2],
                     .track = static_cast<record::Track>(row[3].get<int>()),
                     .start_ns = row[4],
                     .duration_ns = row[5],
                     .args = row[6]});
  }
  return spans;
}

}  // namespace paceline::bench
