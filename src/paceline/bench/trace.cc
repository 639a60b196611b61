// SPDX-License-Identifier: Apache-2.0
#include "paceline/bench/trace.h"

#include <variant>

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
