// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline::records {
namespace {

std::string key_of_tables(const Configuration& c) {
  if (!c.has_tables()) {
    return "";
  }
  return fmt::format(
      " trainers={} servers={} embeddings={} embedding_dim={} placement={} "
      "pooling={} row_optimizer={} row_dtype={} lookup={} zipf={} "
      "compat_relu={}{}{}{}",
      c.trainers,
      c.servers,
      c.embeddings,
      c.embedding_dim,
      c.placement,
      c.pooling,
      c.row_optimizer,
      c.row_dtype,
      c.lookup,
      c.zipf,
      c.compat_relu,
      c.staleness == 0 ? "" : fmt::format(" staleness={}", c.staleness),
      c.row_gradients == "sparse"
          ? ""
          : fmt::format(" row_gradients={}", c.row_gradients),
      c.sparse_engine.empty()
          ? ""
          : fmt::format(" sparse_engine={}", c.sparse_engine));
}

// The part of the key for a case that a program outside performs.
std::string key_of_outside(const Configuration& c) {
  std::string key;
  const auto add = [&key](const char* name, const std::string& value) {
    if (!value.empty()) {
      key += fmt::format(" {}={}", name, value);
    }
  };
  add("start", c.start == "random" ? "" : c.start);
  add("framework", c.framework);
  add("command", c.command);
  add("launcher", c.launcher);
  add("step_regex", c.step_regex);
  add("step_unit", c.step_unit);
  add("rate_scope", c.rate_scope);
  add("python", c.python);
  add("compiled", c.compiled ? "true" : "");
  for (const auto& [name, value] : c.env) {
    key += fmt::format(" env.{}={}", name, value);
  }
  return key;
}

std::string key_of_data(const Configuration& c) {
  std::string key;
  if (!c.data.empty()) {
    key += fmt::format(" data={}", c.data);
  }
  if (c.split != "even") {
    key += fmt::format(" split={}", c.split);
  }
  if (c.target != 0) {
    key += fmt::format(" target={}", c.target);
  }
  if (c.evaluate_every != 50) {
    key += fmt::format(" evaluate_every={}", c.evaluate_every);
  }
  if (c.average_buffers != 0) {
    key += fmt::format(" average_buffers={}", c.average_buffers);
  }
  if (c.lr_warmup != 0) {
    key += fmt::format(" lr_warmup={}", c.lr_warmup);
  }
  if (!c.lr_decay.empty()) {
    key += fmt::format(" lr_decay={}", c.lr_decay);
  }
  if (c.clip_norm != 0) {
    key += fmt::format(" clip_norm={}", c.clip_norm);
  }
  return key;
}

}  // namespace

std::vector<std::string> Configuration::engines() const {
  std::vector<std::string> all{engine};
  if (!sparse_engine.empty()) {
    all.push_back(sparse_engine);
  }
  return all;
}

std::string Configuration::role_of(int rank) const {
  if (!has_tables()) {
    return "";
  }
  if (rank < trainers) {
    return fmt::format("trainer {}", rank);
  }
  if (rank < trainers + servers) {
    return fmt::format("server {}", rank - trainers);
  }
  return servers > 0 && rank == trainers + servers ? "master" : "";
}

std::string Configuration::key() const {
  std::string key = fmt::format(
      "model={} batch={} image={} classes={} ranks={} ranks_per_host={} "
      "strategy={} "
      "bucket_mb={} engine={} device={} dtype={} channels_last={} threads={} "
      "warmup={} steps={} accumulate={} compat_accumulate={} sync_each_step={} "
      "seed={} optimizer={} lr={} momentum={} weight_decay={}",
      model,
      batch_size,
      image_size,
      classes,
      ranks,
      fmt::join(ranks_per_host, "+"),
      strategy,
      bucket_mb,
      engine,
      device,
      dtype,
      channels_last,
      threads,
      warmup,
      steps,
      accumulate,
      compat_accumulate,
      sync_each_step,
      seed,
      optimizer,
      learning_rate,
      momentum,
      weight_decay);
  if (sequence_length != 0) {
    key += fmt::format(" sequence_length={}", sequence_length);
  }
  if (compat_zeros) {
    key += " compat_zeros=true";
  }
  key += key_of_tables(*this);
  if (!link.empty()) {
    key += fmt::format(" link={}", link);
  }
  if (!replay.empty()) {
    key += fmt::format(" replay={}", replay);
  }
  if (stretch != 1) {
    key += fmt::format(" stretch={}", stretch);
  }
  if (!cluster.empty()) {
    key += fmt::format(" cluster={}", cluster);
  }
  return key + key_of_outside(*this) + key_of_data(*this);
}

}  // namespace paceline::records
