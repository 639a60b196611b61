// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/calibrate_command.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/cli/job_flags.h"
#include "paceline/cli/record_files.h"
#include "paceline/predict/calibrated_cluster.h"
#include "paceline/predict/comm_fit.h"
#include "paceline/records/readers.h"
#include "paceline/report/console.h"
#include "paceline/report/table.h"

namespace paceline::cli {
namespace {

/// Throws UsageError if Slurm's numbers contradict its node list and its ranks a host.
void check_numbers(const std::string& path, const nlohmann::json& numbers, std::int64_t expected) {
  for (const auto& [name, said] : numbers.items()) {
    if (said != expected) {
      throw UsageError(
          fmt::format("{}: {}={}, but by the node list and the ranks of a node it would be {}",
                      path, name, said.get<std::int64_t>(), expected));
    }
  }
}

/// Adds the topology or the hosts that a file without times gives.  Returns whether it gives any.
bool add_facts(const std::string& path, predict::ClusterFacts& facts) {
  const nlohmann::json json = records::cluster_facts_in(path);
  if (json.is_null()) {
    return false;
  }
  if (json.contains("node_list")) {
    facts.hosts = cluster::parse_host_list(json.at("node_list").get<std::string>());
    for (cluster::ClusterHost& host : facts.hosts) {
      json.at("slots").get_to(host.slots);
    }
    check_numbers(path, json.at("nodes"), std::ssize(facts.hosts));
    check_numbers(path, json.at("tasks"),
                  std::ssize(facts.hosts) * json.at("slots").get<std::int64_t>());
    return true;
  }
  facts.has_topology = true;
  json.at("devices_per_host").get_to(facts.devices_per_host);
  json.at("network_cards").get_to(facts.network_cards);
  json.at("nvlinks").get_to(facts.nvlinks);
  json.at("most_nvlinks").get_to(facts.most_nvlinks);
  json.at("nvlinks_of_a_device").get_to(facts.nvlinks_of_a_device);
  return true;
}

/// Reads a file of the command line, and adds its measurements to `records` or its topology or
/// Slurm variables to `facts`.
void add_file(const std::string& path, std::vector<records::CommRecord>& records,
              predict::ClusterFacts& facts) {
  const std::string text = read_text(path);
  std::vector<records::CommRecord> found;
  if (records::is_operation_file(text)) {
    found = records::read_paceline_file(text, path).operations;
  } else {
    records::ForeignRecords foreign = records::read_foreign_if_known({path});
    if (foreign.operations.empty() && add_facts(path, facts)) {
      return;
    }
    if (foreign.operations.empty()) {
      throw UsageError(fmt::format(
          "{}: holds no times of collectives; records of `paceline comm`, output of nccl-tests or "
          "rccl-tests, nvidia-smi topo -m and Slurm's variables can be read",
          path));
    }
    for (const std::string& note : foreign.notes) {
      fmt::print(stderr, "paceline: {}\n", note);
    }
    found = std::move(foreign.operations);
  }
  std::ranges::move(found, std::back_inserter(records));
}

/// Returns the unit in which a constant is printed, and the factor from the SI unit to it.
std::pair<const char*, double> unit_of(const std::string& constant) {
  if (constant == "rate") {
    return {"GB/s", 1e-9};
  }
  return constant == "share" ? std::pair{"of the rate", 1.0} : std::pair{"us", 1e6};
}

/// Returns a sentence about the error of the fitted model on the measured times of a link.
std::string error_text(const predict::CalibratedLink& link, const cluster::Cluster& cluster) {
  const auto found = std::ranges::find(cluster.links, link.name, &cluster::ClusterLink::name);
  const cluster::LinkCalibration& calibration = *found->calibration;
  std::string text =
      fmt::format("{}: {}; the model is {:.1f} % off on average and at most {:.1f} %", link.name,
                  counted(static_cast<std::int64_t>(link.points), "time"), link.mean_error * 100,
                  link.worst_error * 100);
  if (calibration.error_percent) {
    text += fmt::format(", nine of ten times within {:.1f} %", *calibration.error_percent);
  }
  if (calibration.doubling_percent) {
    text += fmt::format(", further {:.1f} % for each doubling of the ranks",
                        *calibration.doubling_percent);
  }
  if (!link.undetermined.empty()) {
    text += fmt::format("; the times do not determine {}, which the model has as before",
                        fmt::join(link.undetermined, " and "));
  }
  return text + "\n";
}

report::Table table_of(const predict::CalibratedCluster& calibrated) {
  report::Table table{.title = "constants of the model of the engine's collectives",
                      .columns = {{.name = "link", .align = report::Align::kLeft},
                                  {.name = "constant", .align = report::Align::kLeft},
                                  {.name = "value"},
                                  {.name = "unit", .align = report::Align::kLeft},
                                  {.name = "95 % interval"},
                                  {.name = "before"}}};
  for (const predict::CalibratedLink& link : calibrated.links) {
    for (const predict::FittedConstant& constant : link.constants) {
      const auto [unit, factor] = unit_of(constant.name);
      table.rows.push_back(
          {{link.name, constant.name, fmt::format("{:.3g}", constant.value * factor), unit,
            fmt::format("[{:.3g}, {:.3g}]", constant.interval.low * factor,
                        constant.interval.high * factor),
            fmt::format("{:.3g}", constant.before * factor)}});
    }
    table.legend += error_text(link, calibrated.cluster);
  }
  return table;
}

}  // namespace

CalibrateCommand::CalibrateCommand(CLI::App& app) {
  app.add_option("files", files_,
                 "records of paceline comm, output of nccl-tests or rccl-tests, nvidia-smi topo "
                 "-m, Slurm's variables as env prints them")
      ->required()
      ->type_name("FILE");
  app.add_option("-o,--output", output_, "the cluster file that is written")
      ->required()
      ->type_name("FILE");
  add_cluster_flags(app, choice_);
}

int CalibrateCommand::run() const {
  reject_repeats(files_);
  for (const std::string& file : files_) {
    if (is_same_file(file, output_)) {
      throw UsageError(fmt::format("--output {}: is one of the files that are read", output_));
    }
  }
  predict::check_replaceable("--output", output_, "paceline calibrate");
  std::vector<records::CommRecord> records;
  predict::ClusterFacts facts;
  if (!choice_.empty()) {
    facts.base = cluster::read_cluster(choice_);
  }
  for (const std::string& file : files_) {
    add_file(file, records, facts);
  }
  const predict::CalibratedCluster calibrated =
      predict::calibrated_cluster(records, facts, fmt::format("{}", fmt::join(files_, ", ")));
  write_atomically(output_, cluster::to_toml(calibrated.cluster));
  for (const std::string& note : calibrated.notes) {
    fmt::print(stderr, "paceline: {}\n", note);
  }
  fmt::print("{}", report::console_text({.tables = {table_of(calibrated)}}));
  std::size_t fits = 0;
  for (const cluster::ClusterLink& link : calibrated.cluster.links) {
    fits += link.fits.size();
  }
  fmt::print("{}: {}, {}; other numbers of ranks follow the model\n", output_,
             counted(std::ssize(calibrated.cluster.hosts), "host"),
             counted(static_cast<std::int64_t>(fits), "fit"));
  return 0;
}

}  // namespace paceline::cli
