// SPDX-License-Identifier: Apache-2.0
#include "paceline/bench/trace.h"

#include <filesystem>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/plan/cost.h"
#include "paceline/plan/describe.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::bench {
namespace {

record::Activity activity_of(const runtime::OpSpan& op, const plan::Op& what) {
  if (op.kind == runtime::OpSpan::Kind::kWait) {
    return record::Activity::kWait;
  }
  return std::holds_alternative<plan::Collective>(what.work)
             ? record::Activity::kTransfer
             : record::Activity::kUpdate;
}

record::Span span_of(const runtime::OpSpan& op,
                     const plan::Op& what,
                     const plan::ModelShape& model,
                     const plan::Setup& setup) {
  const record::Activity activity = activity_of(op, what);
  record::SpanArgs args{.step = op.ref.step};
  if (activity == record::Activity::kTransfer) {
    args.bytes = plan::payload_bytes(setup, what);
  }
  record::Span span =
      record::make_span(activity, plan::describe(what, model, setup), args);
  span.duration_ns = op.end_ns - op.start_ns;
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
                     const std::vector<train::PhaseSpan>& phases) {
  record::Span span =
      record::make_span(record::Activity::kTransfer,
                        fmt::format("{}, {}, by the Reducer",
                                    plan::name_of(transfer.pattern),
                                    plan::bytes_text(transfer.payload_bytes)),
                        {.step = step_at(phases, transfer.start_ns),
                         .bytes = transfer.payload_bytes});
  span.duration_ns = transfer.end_ns - transfer.start_ns;
  return span;
}

record::Span span_of(const train::PhaseSpan& phase) {
  record::Span span = record::make_span(
      phase.forward ? record::Activity::kForward : record::Activity::kBackward,
      phase.forward ? "forward" : "backward",
      {.step = phase.step});
  span.duration_ns = phase.end_ns - phase.start_ns;
  return span;
}

}  // namespace

std::vector<record::Span> spans_of(const Recording& recording,
                                   const plan::ModelShape& model,
                                   const plan::Setup& setup,
                                   int rank,
                                   std::int64_t origin_ns) {
  std::vector<record::Span> spans;
  const auto add = [&](record::Span span, std::int64_t start_ns) {
    span.rank = rank;
    span.start_ns = start_ns - origin_ns;
    spans.push_back(std::move(span));
  };
  for (const runtime::OpSpan& op : recording.ops) {
    const plan::Op& what =
        recording.plan_of(op.ref.step).ops[static_cast<std::size_t>(op.ref.op)];
    add(span_of(op, what, model, setup), op.start_ns);
  }
  for (const comm::Transfer& transfer : recording.transfers) {
    add(span_of(transfer, recording.phases), transfer.start_ns);
  }
  for (const train::PhaseSpan& phase : recording.phases) {
    add(span_of(phase), phase.start_ns);
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
