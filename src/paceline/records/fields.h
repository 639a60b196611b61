// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/records/field_kinds.h"

namespace paceline::records::detail {

// Note [One list of keys]
// Writing and reading a record visit the same lists below, so that a field is
// in both or in neither.  `docs/record.schema.json` is checked against what is
// written.  `T` is the structure, const when it is written.

/// What a configuration says of data and how they are learned from.
template <class Visitor, class T>
void visit_data(Visitor& visit, T& c) {
  visit("data", unless({}, c.data));
  visit("split", unless("even", c.split));
  visit("target", unless(0, c.target));
  visit("evaluate_every", unless(50, c.evaluate_every));
  visit("average_buffers", unless(0, c.average_buffers));
  visit("lr_warmup", unless(0, c.lr_warmup));
  visit("lr_decay", unless({}, c.lr_decay));
  visit("clip_norm", unless(0, c.clip_norm));
}

// Fields of models with embedding tables.
template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, Configuration>
void visit_tables(Visitor& visit, T& c) {
  visit("trainers", unless(2, c.trainers));
  visit("servers", unless(2, c.servers));
  visit("embeddings", unless(300, c.embeddings));
  visit("embedding_dim", unless(64, c.embedding_dim));
  visit("placement", unless("table", c.placement));
  visit("pooling", unless("sum", c.pooling));
  visit("row_optimizer", unless("sgd", c.row_optimizer));
  visit("row_dtype", unless("fp32", c.row_dtype));
  visit("row_gradients", unless("sparse", c.row_gradients));
  visit("lookup", unless("parallel", c.lookup));
  visit("zipf", unless(0, c.zipf));
  visit("staleness", unless(0, c.staleness));
  visit("compat_relu", unless(false, c.compat_relu));
  visit("sparse_engine", unless({}, c.sparse_engine));
}

/// What stands for compute and network.
template <class Visitor, class T>
void visit_instruments(Visitor& visit, T& c) {
  visit("link", unless({}, c.link));
  visit("replay", unless({}, c.replay));
  visit("stretch", unless(1, c.stretch));
}

/// What a program outside is told that performs the case.
template <class Visitor, class T>
void visit_outside(Visitor& visit, T& c) {
  visit("start", unless("random", c.start));
  visit("framework", unless({}, c.framework));
  visit("command", unless({}, c.command));
  visit("launcher", unless({}, c.launcher));
  visit("reader", unless({}, c.reader));
  visit("step_regex", unless({}, c.step_regex));
  visit("step_unit", unless({}, c.step_unit));
  visit("rate_scope", unless({}, c.rate_scope));
  visit("steps_per_line", unless(1, c.steps_per_line));
  visit("python", unless({}, c.python));
  visit("compiled", unless(false, c.compiled));
  visit("env", unless({}, c.env));
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, Configuration>
void visit_fields(Visitor& visit, T& c) {
  visit("label", c.label);
  visit("model", stated(c, c.model));
  visit("batch_size", stated_positive(c, c.batch_size, 0));
  visit("image_size", or_null(c.image_size));
  visit("classes", or_null(c.classes));
  visit("sequence_length", unless(0, c.sequence_length));
  visit("compat_zeros", unless(false, c.compat_zeros));
  visit("ranks", stated_positive(c, c.ranks, 1));
  visit("ranks_per_host", or_null(c.ranks_per_host));
  visit("strategy", stated(c, c.strategy));
  visit("bucket_mib", stated(c, c.bucket_mb));
  visit("engine", stated(c, c.engine));
  visit("device", stated(c, c.device));
  visit("dtype", stated(c, c.dtype));
  visit("channels_last", stated(c, c.channels_last));
  visit("threads", or_null(c.threads));
  visit("warmup_steps", stated(c, c.warmup));
  visit("steps", stated(c, c.steps));
  visit("accumulate", stated_positive(c, c.accumulate, 1));
  visit("compat_accumulate", stated(c, c.compat_accumulate));
  visit("sync_each_step", stated(c, c.sync_each_step));
  visit("seed", stated(c, c.seed));
  visit("optimizer", stated(c, c.optimizer));
  visit("learning_rate", stated(c, c.learning_rate));
  visit("momentum", stated(c, c.momentum));
  visit("weight_decay", stated(c, c.weight_decay));
  visit_tables(visit, c);
  visit_instruments(visit, c);
  visit_outside(visit, c);
  visit("not_run", unless({}, c.not_run));
  visit("cluster", unless({}, c.cluster));
  visit_data(visit, c);
  visit("discard", c.discard);
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, HostEnvironment>
void visit_fields(Visitor& visit, T& h) {
  visit("host", h.host);
  visit("facts", h.facts);
  visit("topology", or_null(h.topology));
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, Environment>
void visit_fields(Visitor& visit, T& e) {
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

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, Evaluation>
void visit_fields(Visitor& visit, T& e) {
  visit("step", e.step);
  visit("trained_ns", e.trained_ns);
  visit("sent_bytes", e.sent_bytes);
  visit("loss", e.loss);
  visit("accuracy", e.accuracy);
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, Lookups>
void visit_fields(Visitor& visit, T& l) {
  visit("rows", l.rows);
  visit("distinct_rows_by_server", l.distinct);
  visit("id_bytes", l.id_bytes);
  visit("row_bytes", l.row_bytes);
  visit("gradient_bytes", l.gradient_bytes);
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, RankSamples>
void visit_fields(Visitor& visit, T& r) {
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
  visit("paired_step_ns", unless({}, r.paired_step_ns));
  visit("pair_of_step", unless({}, r.pair_of_step));
  visit("averages_by_steps_missed", unless({}, r.averages_by_steps_missed));
  visit("evaluations", unless({}, r.evaluations));
  visit("examples_of_step", unless({}, r.examples_of_step));
  visit("lookups", if_any(r.lookups));
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, WireBytes>
void visit_fields(Visitor& visit, T& w) {
  visit("measured_bytes_per_step", w.measured_per_step);
  visit("planned_bytes_per_step", w.planned_per_step);
  visit("bytes_by_pattern", w.by_pattern);
  visit("calls_per_step", w.calls_per_step);
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, CostPiece>
void visit_fields(Visitor& visit, T& c) {
  visit("from_bytes", c.from_bytes);
  visit("alpha_s", c.alpha_s);
  visit("beta_s_per_byte", c.beta_s_per_byte);
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, PlannedBy>
void visit_fields(Visitor& visit, T& p) {
  visit("profile_origin", p.profile_origin);
  visit("forward_ps", p.forward_ps);
  visit("backward_ps", p.backward_ps);
  visit("costs_origin", p.costs_origin);
  visit("costs", p.costs);
  visit("remark", p.remark);
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, LinkCheck>
void visit_fields(Visitor& visit, T& l) {
  visit("operations", l.operations);
  visit("late_operations", l.late);
  visit("slack_ns", any_sign(l.slack_ns));
  visit("overdue_ns", if_any(l.overdue_ns));
  visit("window_ns", if_any(l.window_ns));
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, Coding>
void visit_fields(Visitor& visit, T& c) {
  visit("ns_per_step", c.ns_per_step);
  visit("plain_bytes_per_step", c.plain_bytes_per_step);
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, Training>
void visit_fields(Visitor& visit, T& t) {
  visit("last_loss", t.last_loss);
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, StepBound>
void visit_fields(Visitor& visit, T& b) {
  visit("step_ns", b.step_ns);
  visit("compute_ns", b.compute_ns);
  visit("wire_ns", b.wire_ns);
  visit("sharper_step_ns", b.sharper_ns);
  visit("crosses_step", b.crosses_step);
  visit("algorithm", or_null(b.algorithm));
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, ErrorBar>
void visit_fields(Visitor& visit, T& e) {
  visit("share", e.share);
  visit("low_ns", e.low_ns);
  visit("high_ns", e.high_ns);
  visit("level", or_null(e.level));
  visit("validated", formerly("examined", e.validated));
  visit("of", or_null(e.of));
  visit("how", or_null(e.how));
  visit("cells", or_null(e.cells));
  visit("why", or_null(e.why));
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, Predicted>
void visit_fields(Visitor& visit, T& p) {
  visit("training_ranks", positive(p.training_ranks));
  visit("bound", p.bound);
  visit("error_bar", p.error_bar);
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, Warning>
void visit_fields(Visitor& visit, T& w) {
  visit("code", w.code);
  visit("seen", w.seen);
  visit("why", w.why);
  visit("advice", w.advice);
}

template <class Visitor, class T>
requires std::is_same_v<std::remove_const_t<T>, RunRecord>
void visit_fields(Visitor& visit, T& r) {
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
  visit("status", unless({}, r.status));
  visit("adapter", unless({}, r.adapter));
  visit("planned_by", if_any(r.planned_by));
  visit("link_check", if_any(r.link_check));
  visit("coding", if_any(r.coding));
  visit("training", if_any(r.training));
  visit("predicted", if_any(r.predicted));
  visit("consensus_distance", if_any(r.consensus_distance));
}

}  // namespace paceline::records::detail
