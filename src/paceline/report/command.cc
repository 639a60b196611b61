// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/command.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/shell.h"

namespace paceline::report {
namespace {

/// Adds flags in turn.
struct Line {
  std::string text = "paceline run";

  void always(std::string_view flag, const std::string& value) {
    text += fmt::format(" {} {}", flag, shell_word(value));
  }
  template <class T>
  void unless_default(std::string_view flag, const T& value, const T& usual) {
    if (value != usual) {
      always(flag, fmt::to_string(value));
    }
  }
  void where_set(std::string_view flag, bool set) {
    if (set) {
      text += fmt::format(" {}", flag);
    }
  }
};

// What programs outside are told.
void add_outside(const records::Configuration& c, Line& line) {
  const records::Configuration usual;
  if (!c.command.empty()) {
    line.unless_default("--launcher", c.launcher, std::string("command"));
  }
  line.unless_default("--start", c.start, usual.start);
  line.unless_default("--step-regex", c.step_regex, usual.step_regex);
  line.unless_default("--step-unit", c.step_unit, usual.step_unit);
  line.unless_default("--rate-scope", c.rate_scope, usual.rate_scope);
  line.unless_default("--python", c.python, usual.python);
  line.where_set("--compiled", c.compiled);
  for (const auto& [name, value] : c.env) {
    line.always("--env", fmt::format("{}={}", name, value));
  }
}

// What is trained on.
void add_data(const records::Configuration& c, Line& line) {
  const records::Configuration usual;
  line.unless_default("--data", c.data, usual.data);
  line.unless_default("--split", c.split, usual.split);
  line.unless_default("--target", c.target, usual.target);
  line.unless_default(
      "--evaluate-every", c.evaluate_every, usual.evaluate_every);
  line.unless_default(
      "--average-buffers", c.average_buffers, usual.average_buffers);
  line.unless_default("--lr-warmup", c.lr_warmup, usual.lr_warmup);
  line.unless_default("--lr-decay", c.lr_decay, usual.lr_decay);
  line.unless_default("--clip-norm", c.clip_norm, usual.clip_norm);
}

// What its tables are.
void add_tables(const records::Configuration& c,
                const records::Configuration& usual,
                Line& line) {
  if (!c.has_tables()) {
    return;
  }
  line.unless_default("--trainers", c.trainers, usual.trainers);
  line.unless_default("--servers", c.servers, usual.servers);
  line.unless_default("--embeddings", c.embeddings, usual.embeddings);
  line.unless_default("--embedding-dim", c.embedding_dim, usual.embedding_dim);
  line.unless_default("--placement", c.placement, usual.placement);
  line.unless_default("--pooling", c.pooling, usual.pooling);
  line.unless_default("--row-optimizer", c.row_optimizer, usual.row_optimizer);
  line.unless_default("--row-dtype", c.row_dtype, usual.row_dtype);
  line.unless_default("--row-gradients", c.row_gradients, usual.row_gradients);
  line.unless_default("--lookup", c.lookup, usual.lookup);
  line.unless_default("--zipf", c.zipf, usual.zipf);
  line.unless_default("--staleness", c.staleness, usual.staleness);
  line.where_set("--compat-relu", c.compat_relu && !usual.compat_relu);
  line.unless_default("--sparse-engine", c.sparse_engine, usual.sparse_engine);
}

}  // namespace

std::string command_of(const records::Configuration& c) {
  const records::Configuration usual;
  Line line;
  if (!c.command.empty()) {
    line.always("--command", c.command);
  }
  if (c.command.empty() || c.model != "command") {
    line.always("--model", c.model);
  }
  if (!c.framework.empty()) {
    line.always("--framework", c.framework);
  }
  if (c.framework.empty() && c.command.empty()) {
    line.always("--strategy", c.strategy);
  }
  line.always("--ranks", fmt::to_string(c.ranks));
  if (!c.ranks_per_host.empty()) {
    line.always("--ranks-per-host",
                fmt::format("{}", fmt::join(c.ranks_per_host, "+")));
  }
  if (c.model != "hybrid") {  // whose batches are of varying sizes
    line.always("--batch-size", fmt::to_string(c.batch_size));
  }
  line.unless_default("--image-size", c.image_size, usual.image_size);
  line.unless_default("--classes", c.classes, usual.classes);
  line.unless_default(
      "--sequence-length", c.sequence_length, usual.sequence_length);
  line.where_set("--compat-zeros", c.compat_zeros);
  line.always("--device", c.device);
  if (c.framework.empty() && c.command.empty()) {
    line.always("--engine", c.engine);
  }
  line.unless_default("--dtype", c.dtype, usual.dtype);
  line.where_set("--channels-last", c.channels_last);
  line.unless_default("--threads", c.threads, usual.threads);
  line.unless_default("--bucket-mb", c.bucket_mb, usual.bucket_mb);
  line.unless_default("--warmup", c.warmup, usual.warmup);
  line.always("--steps", fmt::to_string(c.steps));
  line.unless_default("--accumulate", c.accumulate, usual.accumulate);
  line.where_set("--compat-accumulate", c.compat_accumulate);
  line.where_set("--sync-each-step", c.sync_each_step);
  line.unless_default("--seed", c.seed, usual.seed);
  line.unless_default("--optimizer", c.optimizer, usual.optimizer);
  line.unless_default("--learning-rate", c.learning_rate, usual.learning_rate);
  line.unless_default("--momentum", c.momentum, usual.momentum);
  line.unless_default("--weight-decay", c.weight_decay, usual.weight_decay);
  if (!c.replay.empty()) {
    line.always("--replay", c.replay);
  }
  if (!c.link.empty()) {
    line.always("--link", c.link);
  }
  line.unless_default("--stretch", c.stretch, usual.stretch);
  add_outside(c, line);
  add_data(c, line);
  add_tables(c, usual, line);
  return line.text;
}

std::string table_command_of(const records::Configuration& c,
                             const records::Configuration& usual) {
  Line line;
  line.text += " " + shell_word(c.model);
  line.unless_default("--batch-size", c.batch_size, usual.batch_size);
  line.unless_default("--strategy", c.strategy, usual.strategy);
  line.always("--engine", c.engine);
  line.unless_default("--optimizer", c.optimizer, usual.optimizer);
  add_tables(c, usual, line);
  return line.text;
}

}  // namespace paceline::report
