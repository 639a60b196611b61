// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "paceline/records/comm_record.h"
#include "paceline/records/run_record.h"

namespace paceline::records::detail {

inline constexpr auto kSources = std::to_array<std::pair<Source, std::string_view>>({
    {Source::kMeasured, "measured"},
    {Source::kReplayed, "replayed"},
    {Source::kPredicted, "predicted"},
    {Source::kImported, "imported"},
    {Source::kExternal, "external"},
});

// Whether a field's type is a vector, a map or an optional.
template <class T>
struct Traits {
  static constexpr bool kVector = false, kMap = false, kOptional = false;
};
template <class T>
struct Traits<std::vector<T>> : Traits<void> {
  static constexpr bool kVector = true;
};
template <class T>
struct Traits<std::map<std::string, T>> : Traits<void> {
  static constexpr bool kMap = true;
};
template <class T>
struct Traits<std::optional<T>> : Traits<void> {
  static constexpr bool kOptional = true;
};

/// A field whose default (0, "" or empty) means "not known", which is null in JSON.
template <class T>
struct OrNull {
  T& value;
};
template <class T>
OrNull<T> or_null(T& value) {
  return {value};
}

/// An integer of at least 1; every other integer is at least 0.
template <class T>
struct Positive {
  T& value;
};
template <class T>
Positive<T> positive(T& value) {
  return {value};
}

/// An integer, or an optional one, that may be negative.
template <class T>
struct AnySign {
  T& value;
};
template <class T>
AnySign<T> any_sign(T& value) {
  return {value};
}

/// A key whose value `make` returns when the record is written.  The key is skipped when it is
/// read.
template <class Make>
struct WrittenOnly {
  Make make;
};
template <class Make>
WrittenOnly<Make> written_only(Make make) {
  return {make};
}

/// A field whose key is omitted if its value is `default_value`, which for an optional is none.  A
/// missing key, as in older records, means `default_value`.
template <class T>
struct OmittedIf {
  T& value;
  std::remove_const_t<T> default_value;
};
template <class T>
OmittedIf<T> omitted_if(const std::remove_const_t<T>& default_value, T& value) {
  return {value, default_value};
}

/// A field that older records have under the key `before`.
template <class T>
struct RenamedFrom {
  T& value;
  const char* before;
};
template <class T>
RenamedFrom<T> renamed_from(const char* before, T& value) {
  return {value, before};
}

/// Matches the type `U`, which is const while a record is written and not const while it is read.
template <class T, class U>
concept MaybeConst = std::same_as<std::remove_const_t<T>, U>;

// Note [One list of keys]
// Writing and reading a record visit the same lists below, so that a field is in both or in
// neither.  `docs/record.schema.json` is checked against what is written.  The fields of a
// configuration are rows of case/field_table.cc.

void visit_fields(auto& visit, MaybeConst<HostEnvironment> auto& h) {
  visit("host", h.host);
  visit("facts", h.facts);
  visit("topology", or_null(h.topology));
}

void visit_fields(auto& visit, MaybeConst<Environment> auto& e) {
  visit("paceline_version", or_null(e.paceline_version));
  visit("git_hash", or_null(e.git_hash));
  visit("compiler", or_null(e.compiler));
  visit("build_type", or_null(e.build_type));
  visit("torch_version", or_null(e.torch_version));
  visit("torch_git", or_null(e.torch_git));
  visit("cuda_version", or_null(e.cuda_version));
  visit("nccl_version", or_null(e.nccl_version));
  visit("variables", e.variables);
  visit("hosts", e.hosts);
}

void visit_fields(auto& visit, MaybeConst<Evaluation> auto& e) {
  visit("step", e.step);
  visit("trained_ns", e.trained_ns);
  visit("sent_bytes", e.sent_bytes);
  visit("loss", e.loss);
  visit("accuracy", e.accuracy);
}

void visit_fields(auto& visit, MaybeConst<LookupCounts> auto& l) {
  visit("rows", l.rows);
  visit("distinct_rows_by_server", l.distinct);
  visit("id_bytes", l.id_bytes);
  visit("row_bytes", l.row_bytes);
  visit("gradient_bytes", l.gradient_bytes);
}

void visit_fields(auto& visit, MaybeConst<RankSamples> auto& r) {
  visit("rank", r.rank);
  visit("host", or_null(r.host));
  visit("local_rank", r.local_rank);
  visit("device", or_null(r.device));
  visit("step_ns", r.step_ns);
  visit("phase_ns", r.phase_ns);
  visit("window_ns", or_null(r.window_ns));
  visit("flush_ns", r.flush_ns);
  visit("peak_memory_bytes", r.peak_memory_bytes);
  visit("compute_only_step_ns", or_null(r.compute_only_step_ns));
  visit("paired_step_ns", omitted_if({}, r.paired_step_ns));
  visit("pair_of_step", omitted_if({}, r.pair_of_step));
  visit("averages_by_steps_missed", omitted_if({}, r.averages_by_steps_missed));
  visit("evaluations", omitted_if({}, r.evaluations));
  visit("examples_of_step", omitted_if({}, r.examples_of_step));
  visit("lookups", omitted_if({}, r.lookups));
}

void visit_fields(auto& visit, MaybeConst<WireBytes> auto& w) {
  visit("measured_bytes_per_step", w.measured_per_step);
  visit("planned_bytes_per_step", w.planned_per_step);
  visit("bytes_by_pattern", w.by_pattern);
  visit("calls_per_step", w.calls_per_step);
}

void visit_fields(auto& visit, MaybeConst<CostPiece> auto& c) {
  visit("from_bytes", c.from_bytes);
  visit("alpha_s", c.alpha_s);
  visit("beta_s_per_byte", c.beta_s_per_byte);
}

void visit_fields(auto& visit, MaybeConst<PlannerTimes> auto& p) {
  visit("profile_origin", p.profile_origin);
  visit("forward_ps", p.forward_ps);
  visit("backward_ps", p.backward_ps);
  visit("costs_origin", p.costs_origin);
  visit("costs", p.costs);
  visit("remark", p.remark);
}

void visit_fields(auto& visit, MaybeConst<LinkCheck> auto& l) {
  visit("operations", l.operations);
  visit("late_operations", l.late);
  visit("slack_ns", any_sign(l.slack_ns));
  visit("overdue_ns", omitted_if({}, l.overdue_ns));
  visit("window_ns", omitted_if({}, l.window_ns));
}

void visit_fields(auto& visit, MaybeConst<CodingCost> auto& c) {
  visit("ns_per_step", c.ns_per_step);
  visit("plain_bytes_per_step", c.plain_bytes_per_step);
}

void visit_fields(auto& visit, MaybeConst<Training> auto& t) { visit("last_loss", t.last_loss); }

void visit_fields(auto& visit, MaybeConst<StepBound> auto& b) {
  visit("step_ns", b.step_ns);
  visit("compute_ns", b.compute_ns);
  visit("wire_ns", b.wire_ns);
  visit("sharper_step_ns", b.sharper_ns);
  visit("crosses_step", b.crosses_step);
  visit("algorithm", or_null(b.algorithm));
}

void visit_fields(auto& visit, MaybeConst<ErrorBar> auto& e) {
  visit("share", e.share);
  visit("low_ns", e.low_ns);
  visit("high_ns", e.high_ns);
  visit("level", or_null(e.level));
  visit("validated", renamed_from("examined", e.validated));
  visit("of", or_null(e.of));
  visit("how", or_null(e.how));
  visit("cells", or_null(e.cells));
  visit("why", or_null(e.why));
}

void visit_fields(auto& visit, MaybeConst<PredictionDetails> auto& p) {
  visit("training_ranks", positive(p.training_ranks));
  visit("bound", p.bound);
  visit("error_bar", p.error_bar);
}

void visit_fields(auto& visit, MaybeConst<Warning> auto& w) {
  visit("code", w.code);
  visit("seen", w.seen);
  visit("why", w.why);
  visit("advice", w.advice);
}

void visit_fields(auto& visit, MaybeConst<RunRecord> auto& r) {
  visit("version", positive(r.version));
  visit("source", r.source);
  visit("experiment", r.experiment);
  visit("started_at", or_null(r.started_at));
  visit("run", r.run);
  visit("configuration", r.configuration);
  visit("environment", r.environment);
  visit("ranks", r.ranks);
  visit("wire", r.wire);
  visit("verified", r.verified);
  visit("warnings", r.warnings);
  visit("error", r.error);
  visit("status", omitted_if({}, r.status));
  visit("adapter", omitted_if({}, r.adapter));
  visit("planned_by", omitted_if({}, r.planned_by));
  visit("link_check", omitted_if({}, r.link_check));
  visit("coding", omitted_if({}, r.coding));
  visit("training", omitted_if({}, r.training));
  visit("predicted", omitted_if({}, r.predicted));
  visit("consensus_distance", omitted_if({}, r.consensus_distance));
}

void visit_fields(auto& visit, MaybeConst<InPlace> auto& p) {
  visit("iteration_ns", p.iteration_ns);
  visit("wrong_elements", p.wrong_elements);
}

void visit_fields(auto& visit, MaybeConst<CommRecord> auto& r) {
  visit("kind", written_only([] { return "comm"; }));
  visit("version", written_only([] { return CommRecord::kVersion; }));
  visit("started_at", or_null(r.started_at));
  visit("operation", r.operation);
  visit("op", or_null(r.op));
  visit("root", r.root);
  visit("bytes", r.bytes);
  visit("ranks", positive(r.ranks));
  visit("ranks_per_host", or_null(r.ranks_per_host));
  visit("engine", r.engine);
  visit("device", r.device);
  visit("dtype", r.dtype);
  visit("interface", or_null(r.interface));
  visit("link", or_null(r.link));
  visit("warmup", r.warmup);
  visit("iterations", written_only([&r] { return r.iteration_ns.size(); }));
  visit("iteration_ns", r.iteration_ns);
  visit("place", or_null(r.place));
  visit("clock", or_null(r.clock));
  visit("mean_of", or_null(r.mean_of));
  visit("formula", or_null(r.formula));
  visit("duration_ns", written_only([&r] { return duration_json(r); }));
  visit("wire_bytes", r.wire_bytes);
  visit("bytes_per_s", written_only([&r] { return bandwidths_json(r); }));
  visit("wrong_elements", r.wrong_elements);
  visit("in_place", r.in_place);
  visit("link_slack_ns", any_sign(r.link_slack_ns));
  visit("valid", r.valid);
  visit("warnings", r.warnings);
  visit("environment", r.environment);
}

}  // namespace paceline::records::detail
