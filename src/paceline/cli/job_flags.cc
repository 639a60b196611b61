// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/job_flags.h"

#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/profile_file.h"

namespace paceline::cli {

void add_cluster_flags(CLI::App& app, plan::ClusterChoice& choice) {
  app.add_option("--cluster", choice.file, "cluster file (clusters/*.toml)")
      ->type_name("FILE");
  app.add_option("-H,--hosts",
                 choice.hosts,
                 "hosts and their slots, in place of the cluster file's")
      ->type_name("a:4,b:4");
  app.add_option("--hostfile", choice.hostfile, "the same from an MPI hostfile")
      ->type_name("FILE");
}

void add_model_flag(CLI::App& app, std::string& model) {
  app.add_option("model,--model",
                 model,
                 "a network: resnet50, vgg16, bert-base, ...; or a profile "
                 "(paceline profile, adapters/torch_profile.py)")
      ->required()
      ->type_name("NAME|PROFILE.json");
}

bool names_profile(const std::string& model) {
  return model.ends_with(".json");
}

void choose_network(const std::string& model, sim::PredictRequest& request) {
  if (!names_profile(model)) {
    request.network = plan::network_shape(model);
    return;
  }
  plan::ProfiledModel profiled = plan::read_profile(model);
  if (request.batch_size == 0) {
    request.batch_size = profiled.batch_size;
  }
  if (request.batch_size != profiled.batch_size && !request.samples_per_s) {
    throw UsageError(
        fmt::format("--batch-size {}: {} has the times of a batch of {}; "
                    "profile the other batch, or give --device-rate",
                    request.batch_size,
                    model,
                    profiled.batch_size));
  }
  request.network.model = std::move(profiled.model);
  request.profile = std::move(profiled.profile);
}

}  // namespace paceline::cli
