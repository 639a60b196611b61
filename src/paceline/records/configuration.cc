// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline::records {

std::string Configuration::key() const {
  std::string key = fmt::format(
      "model={} batch={} image={} classes={} ranks={} hosts={} strategy={} "
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
  return key;
}

}  // namespace paceline::records
