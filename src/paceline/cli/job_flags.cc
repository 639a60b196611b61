// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/job_flags.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/run_python.h"
#include "paceline/case/case.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cluster/profile_file.h"
#include "paceline/plan/networks/network_shape.h"
#include "paceline/plan/optimizer.h"
#include "paceline/predict/case_request.h"
#include "paceline/predict/profile_batches.h"

namespace paceline::cli {
namespace {

/// Sets the network and layer times of `request` from the profile `model`. With a profile `second`
/// of another batch size, the times are those for the job's micro-batch. `timed` is true if a
/// device rate or measurements give the speed at other batch sizes.
void choose_profile(const std::string& model, const std::string& second, bool timed,
                    predict::PredictRequest& request) {
  predict::ProfileOfFile file{model, cluster::read_profile(model)};
  cluster::ProfiledModel& profiled = file.profiled;
  if (request.batch_size == 0) {
    request.batch_size = profiled.batch_size * request.accumulate;
  }
  if (!second.empty()) {
    predict::ProfileOfBatch at =
        predict::profile_of_batch(file, {second, cluster::read_profile(second)},
                                  std::max(1, request.batch_size / request.accumulate));
    profiled = std::move(at.profiled);
    if (at.warning && !timed) {
      request.warnings.push_back(*std::move(at.warning));
    }
  } else if (request.batch_size != profiled.batch_size * request.accumulate && !timed) {
    throw UsageError(
        fmt::format("--batch-size {}: {} has the times of a batch of {}; profile the other batch, "
                    "give two profiles or --device-rate",
                    request.batch_size, model, profiled.batch_size));
  }
  predict::set_profile(std::move(profiled), request);
}

/// Returns the shape of a built-in network for samples of `tokens` tokens; 0 means the network's
/// default.
plan::NetworkShape built_in_network(const std::string& model, int tokens) {
  try {
    plan::network_shape(model);
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("{}; or give a profile, FILE.json (`paceline profile`, paceline.torch.profile)",
                    error.what()));
  }
  return plan::network_shape(model, tokens);
}

/// Profiles a network in Python, MODULE:FACTORY, into a file in the working directory, and returns
/// its path.
std::string profile_own_network(const std::string& model) {
  std::string path = model + ".profile.json";
  std::ranges::replace(path, ':', '.');
  const PythonOutput done =
      run_python("paceline.torch.profile", {model, "--name", model, "--output", path});
  if (done.exit_code != 0) {
    throw UsageError(fmt::format("--model {}: {}", model, last_error_line(done)));
  }
  std::fputs(done.errors.c_str(), stderr);  // prints warnings and the file's name
  return path;
}

}  // namespace

void add_cluster_flags(CLI::App& app, cluster::ClusterChoice& choice) {
  app.add_option("--cluster", choice.file, "cluster file, or the name of one in clusters/")
      ->type_name("FILE");
  app.add_option("-H,--hosts", choice.hosts,
                 "hosts and their slots, in place of the cluster file's")
      ->type_name("a:4,b:4");
  app.add_option("--hostfile", choice.hostfile, "the same from an MPI hostfile")->type_name("FILE");
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

bool is_profile_path(const std::string& model) { return model.ends_with(".json"); }

bool has_tables(const std::string& model) { return cases::Network{.model = model}.has_tables(); }

JobFlags::JobFlags(CLI::App& app) {
  app.add_option(
         "model,--model,--network", models_,
         "a network: resnet50, vgg16, bert-base, ...; a profile (paceline profile, "
         "paceline.torch.profile), or two of one network, between whose batches layer times "
         "are linear; or your own network, which is profiled here first")
      ->type_name("NAME|PROFILE.json|MODULE:FACTORY")
      ->expected(1, 2)
      ->allow_extra_args();
  app.parse_complete_callback([this] { resolve_model_flags(); });
  add_cluster_flags(app, cluster_);
  app.add_option("--ranks", ranks_, "ranks: 8, or 8,16; left out: all slots")
      ->delimiter(',')
      ->check(whole_number_in(1))
      ->type_name("N,N")
      ->allow_extra_args(false);
  app.add_option("--batch-size", batch_size_, "samples per rank and step")
      ->check(whole_number_in(1));
  app.add_option("--accumulate", accumulate_,
                 "micro-batches of a step, in which --batch-size is cut [1]")
      ->check(whole_number_in(1, 1 << 20));
  app.add_option("--sequence-length", sequence_length_,
                 "tokens of a sample, of a network that reads text [its own]")
      ->check(whole_number_in(1));
  app.add_option("--dtype", dtype_,
                 "of parameters and gradients: fp32, bf16, fp16, fp8 [fp32; of a profile its own]")
      ->check(one_of("number type", {"fp32", "bf16", "fp16", "fp8"}));
  rate_ = app.add_option("--device-rate", device_rate_,
                         "samples/s of one device alone at --batch-size, cut as --accumulate says; "
                         "left out: the profile's, or the cluster file's")
              ->check(number_in(predict::kLeastDeviceRate, predict::kMostDeviceRate));
  app.add_option("--optimizer", optimizer_, "one of `paceline list optimizers` [sgd]");
  app.add_option(
      "--engine", engine_,
      "whose fits and software costs: nccl, nccl-2.4, gloo, mpi, link, ideal, bytescheduler, "
      "byteps, bluefog; left out: that of the cluster file's fits, else nccl, or with tables gloo");
  app.add_option("--engine-costs", engine_costs_, "a file in place of data/engine_costs.toml")
      ->type_name("FILE");
  app.add_option("--algorithm", algorithm_,
                 "of collectives: ring, tree, measured, nccl, nccl-collnet");
  app.add_flag("--unfused", unfused_, "the optimizer launches kernels of its own for each tensor");
}

/// Sets model_ and second_profile_ from the values of --model. A network that is given as
/// MODULE:FACTORY in Python is profiled first.
void JobFlags::resolve_model_flags() {
  if (models_.empty()) {
    return;
  }
  model_ = models_.front();
  if (models_.size() > 1) {
    second_profile_ = models_[1];
  } else if (model_.find(':') != std::string::npos && !is_profile_path(model_)) {
    model_ = profile_own_network(model_);
  }
}

void JobFlags::check_models() const {
  if (models_.size() > 2 ||
      (models_.size() == 2 && !std::ranges::all_of(models_, is_profile_path))) {
    throw UsageError(fmt::format(
        "--model: {} are given; one network can be, or two profiles of one at two batches",
        fmt::join(models_, ", ")));
  }
}

/// The name of the network or the path of its profile, from the flags or else from records.
std::string JobFlags::network_of(const cases::Case* recorded) const {
  if (!model_.empty()) {
    return model_;
  }
  if (recorded == nullptr) {
    throw UsageError(
        "no network: name one, or give the profile of your own (`paceline profile`, "
        "paceline.torch.profile)");
  }
  const cases::Case& c = *recorded;
  if (!c.replay.empty()) {
    return c.replay;
  }
  if (c.image_size != 0 || c.classes != 0) {
    throw UsageError(
        fmt::format("the layers of {} with image_size {} and classes {} are not known "
                    "here: give its profile as MODEL (`paceline profile` writes one)",
                    c.model, c.image_size, c.classes));
  }
  return c.model;
}

bool JobFlags::names_cluster() const {
  return !cluster_.file.empty() || !cluster_.hosts.empty() || !cluster_.hostfile.empty();
}

/// Fills the values that no flag gives from the case in the job's records. Throws UsageError if a
/// flag contradicts the records.
void JobFlags::apply_recorded_case(const cases::Case& recorded,
                                   predict::PredictRequest& request) const {
  const auto check = [](const char* flag, const std::string& given, const std::string& measured) {
    if (!given.empty() && given != measured) {
      throw UsageError(
          fmt::format("{} {}: the records of --measured are of {}", flag, given, measured));
    }
  };
  if (recorded.states("accumulate")) {
    check("--accumulate", accumulate_ ? fmt::to_string(*accumulate_) : "",
          fmt::to_string(recorded.accumulate));
    request.accumulate = recorded.accumulate;
  }
  if (recorded.states("dtype")) {
    check("--dtype", dtype_, recorded.dtype == "amp" ? "fp32" : recorded.dtype);
    predict::set_dtype(recorded.dtype, request);
  }
  if (recorded.states("sequence_length")) {
    const int tokens =
        recorded.sequence_length == 0 ? request.network.default_tokens : recorded.sequence_length;
    check("--sequence-length", sequence_length_ ? fmt::to_string(*sequence_length_) : "",
          fmt::to_string(tokens));
  }
  if (!model_.empty()) {
    check("MODEL", request.network.model.name, recorded.model);
  }
  if (recorded.states("optimizer")) {
    const std::string rule = plan::update_rule_of(recorded.optimizer);
    check("--optimizer", optimizer_, rule);
    request.optimizer = rule;
  }
  if (!recorded.link.empty()) {
    check("--engine", engine_, "link");
    predict::set_emulated_link(recorded.link, request);
  } else if (recorded.states("engine")) {
    const predict::EngineCosts* asked =
        engine_.empty() ? nullptr : &request.cost_table().engine(engine_);
    if (asked != nullptr && !asked->bound) {
      check("--engine", asked->fit_engine_name(), recorded.engine);
    }
    request.engine = engine_.empty() ? recorded.engine : engine_;
  }
}

predict::PredictRequest JobFlags::request(const predict::MeasuredRecords* measured) const {
  check_models();
  const cases::Case* recorded = measured != nullptr && measured->job ? &*measured->job : nullptr;
  const std::string network = network_of(recorded);
  predict::PredictRequest request{.network = {},
                                  .cluster = {},
                                  .batch_size = batch_size_.value_or(0),
                                  .samples_per_s = device_rate_,
                                  .optimizer = optimizer_.empty() ? "sgd" : optimizer_,
                                  .unfused = unfused_,
                                  .engine = engine_};
  if (recorded == nullptr || names_cluster()) {
    request.cluster = cluster::read_cluster(cluster_);
  } else {
    request.cluster.name = "as the records";
    request.cluster.device.name = recorded->device;
  }
  request.accumulate = accumulate_.value_or(1);
  const int recorded_tokens =
      recorded != nullptr && !is_profile_path(network) ? recorded->sequence_length : 0;
  const int tokens = sequence_length_.value_or(recorded_tokens);
  if (tokens != 0 && (has_tables(network) || is_profile_path(network))) {
    throw UsageError(fmt::format("--sequence-length {}: {} is no built-in network that reads text",
                                 tokens, network));
  }
  if (has_tables(network)) {
    request.network.model.name = network;  // the shape depends on its tables
  } else if (is_profile_path(network)) {
    choose_profile(network, second_profile_, device_rate_ || measured != nullptr, request);
  } else {
    request.network = built_in_network(network, tokens);
  }
  predict::set_dtype(dtype_, request);
  if (!engine_costs_.empty()) {
    request.costs = std::make_shared<const predict::CostTable>(predict::read_costs(engine_costs_));
  }
  if (!algorithm_.empty()) {
    request.algorithm = algorithm_;
  }
  if (recorded != nullptr) {
    apply_recorded_case(*recorded, request);
  }
  return request;
}

std::vector<plan::Rank> JobFlags::worlds(const cluster::Cluster& cluster) const {
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

void JobFlags::make_exclusive_with(CLI::Option& measured) { measured.excludes(rate_); }

}  // namespace paceline::cli
