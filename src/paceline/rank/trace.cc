// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/trace.h"

#include <filesystem>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/plan/cost.h"
#include "paceline/plan/describe.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::records {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Span, name, category, rank, track, start_ns, duration_ns, args)

}  // namespace paceline::records

namespace paceline::rank {
namespace {

records::Activity activity_of(const execution::OpSpan& op, const plan::Op& what) {
  if (op.kind == execution::OpSpan::Kind::kWait) {
    return records::Activity::kWait;
  }
  const bool crosses = std::holds_alternative<plan::Collective>(what.work) ||
                       std::holds_alternative<plan::Exchange>(what.work);
  return crosses ? records::Activity::kTransfer : records::Activity::kUpdate;
}

records::Span span_of(const execution::OpSpan& op, const plan::Op& what,
                      const plan::ModelShape& model, const plan::Setup& setup) {
  const records::Activity activity = activity_of(op, what);
  records::SpanArgs args{.step = op.ref.step};
  if (activity == records::Activity::kTransfer) {
    args.bytes = plan::credit_bytes_of(setup, what);
  }
  records::Span span = records::make_span(activity, plan::describe(what, model, setup), args);
  span.duration_ns = op.end_ns - op.start_ns;
  return span;
}

// Returns the step in whose forward or backward pass `time_ns` lies, or the last step that began
// before; nothing if there is none.
std::optional<std::int64_t> step_at(const std::vector<PhaseSpan>& phases, std::int64_t time_ns) {
  std::optional<std::int64_t> step;
  for (const PhaseSpan& phase : phases) {
    if (phase.start_ns <= time_ns) {
      step = phase.step;
    }
  }
  return step;
}

records::Span span_of(const engines::CollectiveSpan& transfer,
                      const std::vector<PhaseSpan>& phases) {
  records::Span span = records::make_span(
      records::Activity::kTransfer,
      fmt::format("{}, {}, by the Reducer", plan::name_of(transfer.pattern),
                  plan::bytes_text(transfer.payload_bytes)),
      {.step = step_at(phases, transfer.start_ns), .bytes = transfer.payload_bytes});
  span.duration_ns = transfer.end_ns - transfer.start_ns;
  return span;
}

records::Span span_of(const PhaseSpan& phase) {
  records::Span span =
      records::make_span(phase.forward ? records::Activity::kForward : records::Activity::kBackward,
                         phase.forward ? "forward" : "backward", {.step = phase.step});
  span.duration_ns = phase.end_ns - phase.start_ns;
  return span;
}

}  // namespace

std::vector<records::Span> spans_of(const RankRecording& recording, const plan::ModelShape& model,
                                    const plan::Setup& setup, int rank, std::int64_t origin_ns) {
  std::vector<records::Span> spans;
  const auto add = [&](records::Span span, std::int64_t start_ns) {
    span.rank = rank;
    span.start_ns = start_ns - origin_ns;
    spans.push_back(std::move(span));
  };
  for (const execution::OpSpan& op : recording.ops) {
    const plan::Op& what = recording.plan_of(op.ref.step).ops[static_cast<std::size_t>(op.ref.op)];
    add(span_of(op, what, model, setup), op.start_ns);
  }
  for (const engines::CollectiveSpan& transfer : recording.transfers) {
    add(span_of(transfer, recording.phases), transfer.start_ns);
  }
  for (const PhaseSpan& phase : recording.phases) {
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

std::string to_text(const std::vector<records::Span>& spans) {
  return nlohmann::json(spans).dump();
}

std::vector<records::Span> spans_from(const std::string& text) {
  return nlohmann::json::parse(text).get<std::vector<records::Span>>();
}

CaseTraces::CaseTraces(std::string path, const std::vector<std::string>& hosts)
    : path_(std::move(path)) {
  for (const std::string& host : hosts) {
    names_.ranks.emplace(static_cast<int>(names_.ranks.size()), host);
  }
}

void CaseTraces::add(const std::string& title, std::vector<records::Span> spans) {
  for (records::Span& span : spans) {
    span.section = static_cast<int>(names_.sections.size());
    spans_.push_back(std::move(span));
  }
  names_.sections.push_back(title);
  records::write_trace_file(path_, spans_, names_);
}

}  // namespace paceline::rank
