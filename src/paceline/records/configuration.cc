// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/configuration.h"

#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/records/fields.h"

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

/// The fields that a record names only where they are not as usual.
struct UnusualFields {
  std::string text{};

  template <class T>
  void operator()(const char* name, const detail::Unless<T>& field) {
    if (field.value != field.usual) {
      add(name, field.value);
    }
  }

 private:
  void add(std::string_view name, const auto& value) {
    if (const auto word = fmt::format("{}", value); !word.empty()) {
      text += fmt::format(" {}={}", name, word);
    }
  }
  void add(std::string_view name,
           const std::map<std::string, std::string>& variables) {
    for (const auto& [variable, value] : variables) {
      text += fmt::format(" {}.{}={}", name, variable, value);
    }
  }
};

struct Forget {
  const std::string& wanted;

  template <class T, class Keys>
  void operator()(const std::string& key,
                  const detail::Stated<T, Keys>& field) const {
    if (key == wanted) {
      field.value = field.neutral;
      field.unstated.insert(key);
    }
  }
  template <class Other>
  void operator()(const std::string& /*key*/, const Other& /*field*/) const {}
};

}  // namespace

void Configuration::forget(const std::string& key) {
  const Forget visit{key};
  detail::visit_fields(visit, *this);
}

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
  UnusualFields unusual{std::move(key)};
  unusual("sequence_length", detail::unless(0, sequence_length));
  unusual("compat_zeros", detail::unless(false, compat_zeros));
  unusual.text += key_of_tables(*this);
  detail::visit_instruments(unusual, *this);
  unusual("cluster", detail::unless({}, cluster));
  detail::visit_outside(unusual, *this);
  detail::visit_data(unusual, *this);
  if (!unstated.empty()) {
    unusual.text += fmt::format(" unstated={}", fmt::join(unstated, ","));
  }
  return unusual.text;
}

}  // namespace paceline::records
