// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/job_flags.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cluster/profile_file.h"
#include "paceline/records/configuration.h"

namespace paceline::cli {
namespace {

void choose_network(const std::string& model,
                    predict::PredictRequest& request) {
  if (has_tables(model)) {
    request.network.model.name = model;  // the rest depends on its tables
    return;
  }
  if (!names_profile(model)) {
    try {
      request.network = plan::network_shape(model);
    } catch (const UsageError& error) {
      throw UsageError(
          fmt::format("{}; or give a profile, FILE.json (`paceline profile`, "
                      "paceline.torch.profile)",
                      error.what()));
    }
    return;
  }
  cluster::ProfiledModel profiled = cluster::read_profile(model);
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
  request.profile_device = profiled.device;
  request.update = profiled.update;
  request.codecs = std::move(profiled.codecs);
}

}  // namespace

void add_cluster_flags(CLI::App& app, cluster::ClusterChoice& choice) {
  app.add_option("--cluster",
                 choice.file,
                 "cluster file, or the name of one in clusters/")
      ->type_name("FILE");
  app.add_option("-H,--hosts",
                 choice.hosts,
                 "hosts and their slots, in place of the cluster file's")
      ->type_name("a:4,b:4");
  app.add_option("--hostfile", choice.hostfile, "the same from an MPI hostfile")
      ->type_name("FILE");
}

std::vector<std::string> cluster_words(const cluster::ClusterChoice& choice) {
  std::vector<std::string> words;
  for (const auto& [flag, value] : {std::pair{"--cluster", choice.file},
                                    {"--hosts", choice.hosts},
                                    {"--hostfile", choice.hostfile}}) {
    if (!value.empty()) {
      words.insert(words.end(), {flag, value});
    }
  }
  return words;
}

bool names_profile(const std::string& model) {
  return model.ends_with(".json");
}

bool has_tables(const std::string& model) {
  records::Configuration configuration;
  configuration.model = model;
  return configuration.has_tables();
}

JobFlags::JobFlags(CLI::App& app) {
  CLI::Option* model =
      app.add_option("model,--model,--network",
                     model_,
                     "a network: resnet50, vgg16, bert-base, ...; or a profile "
                     "(paceline profile, paceline.torch.profile)")
          ->type_name("NAME|PROFILE.json");
  add_cluster_flags(app, cluster_);
  app.add_option("--ranks", ranks_, "ranks: 8, or 8,16; left out: all slots")
      ->delimiter(',')
      ->check(whole_number_in(1))
      ->type_name("N,N")
      ->allow_extra_args(false);
  of_records_ = {
      model,
      app.add_option("--batch-size", batch_size_, "samples per rank and step")
          ->check(whole_number_in(1)),
      app.add_option("--device-rate",
                     device_rate_,
                     "samples/s of one device alone; left out: the profile's, "
                     "or the cluster file's")
          ->check(
              number_in(predict::kLeastDeviceRate, predict::kMostDeviceRate)),
      app.add_option(
          "--optimizer", optimizer_, "one of `paceline list optimizers` [sgd]"),
      app.add_option(
          "--engine",
          engine_,
          "whose fits and software costs: nccl, nccl-2.4, gloo, mpi, "
          "link, ideal, bytescheduler, byteps, bluefog; left out: that of "
          "the cluster file's fits, else nccl, or with tables gloo"),
      app.add_option("--engine-costs",
                     engine_costs_,
                     "a file in place of data/engine_costs.toml")
          ->type_name("FILE"),
      app.add_option("--algorithm",
                     algorithm_,
                     "of collectives: ring, tree, halving-doubling, "
                     "hierarchical, measured, nccl, nccl-collnet"),
      app.add_flag(
          "--unfused",
          unfused_,
          "the optimizer launches kernels of its own for each tensor")};
}

predict::PredictRequest JobFlags::request() const {
  if (model_.empty()) {
    throw UsageError(
        "no network: name one, or give the profile of your own (`paceline "
        "profile`, paceline.torch.profile)");
  }
  predict::PredictRequest request{.network = {},
                                  .cluster = cluster::read_cluster(cluster_),
                                  .batch_size = batch_size_.value_or(0),
                                  .samples_per_s = device_rate_,
                                  .optimizer = optimizer_,
                                  .unfused = unfused_,
                                  .engine = engine_};
  choose_network(model_, request);
  if (!engine_costs_.empty()) {
    request.costs = std::make_shared<const predict::CostTable>(
        predict::read_costs(engine_costs_));
  }
  if (!algorithm_.empty()) {
    request.algorithm = algorithm_;
  }
  return request;
}

std::vector<plan::Rank> JobFlags::worlds(
    const cluster::Cluster& cluster) const {
  if (ranks_.empty()) {
    return {cluster.slots()};
  }
  for (const int ranks : ranks_) {
    if (std::ranges::count(ranks_, ranks) > 1) {
      throw UsageError(fmt::format("--ranks: {} is given twice", ranks));
    }
  }
  return {ranks_.begin(), ranks_.end()};
}

void JobFlags::exclude_beside(CLI::Option& records) {
  for (CLI::Option* option : of_records_) {
    records.excludes(option);
  }
}

}  // namespace paceline::cli
