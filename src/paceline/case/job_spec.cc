// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/job_spec.h"

#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/json_place.h"
#include "paceline/case/field.h"
#include "paceline/case/json.h"
#include "paceline/case/legacy_names.h"
#include "paceline/case/outside.h"

namespace paceline::cases {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OperationSweep, engine, device, dtype, link, operations, sizes,
                                   ranks, warmup, iterations, fit, command)

namespace {

using nlohmann::ordered_json;

/// All keys of the settings with their values as text; empty values are left out.
ordered_json texts_of(const Settings& settings) {
  ordered_json texts = ordered_json::object();
  for (const Field& key : keys()) {
    if (!is_case_key(key)) {
      if (std::string text = read_key(key, settings); !text.empty()) {
        texts[std::string(key.name)] = std::move(text);
      }
    }
  }
  return texts;
}

Settings settings_from(const nlohmann::json& texts) {
  Settings settings;
  for (const auto& [name, text] : texts.get<std::map<std::string, std::string>>()) {
    const Field* key = find_key(name);
    if (key == nullptr) {
      throw UsageError(fmt::format("job: {}", unknown_key_message(name, false)));
    }
    assign_key(*key, text, "job: " + name, settings);
  }
  return settings;
}

}  // namespace

int ranks_of(const JobSpec& job) {
  return job.operations ? job.operations->ranks : most_processes(job.experiment);
}

std::vector<std::string> engines_of(const JobSpec& job) {
  std::vector<std::string> engines;
  if (job.operations) {
    engines.push_back(job.operations->engine);
  }
  for (const Case& c : job.experiment.cases) {
    if (!runs_external_program(c)) {
      engines.push_back(c.engine);
    }
  }
  return engines;
}

std::string to_text(const JobSpec& job) {
  ordered_json all = ordered_json::array();
  for (const Case& c : job.experiment.cases) {
    all.push_back(to_json(c));
  }
  ordered_json operations;
  if (job.operations) {
    operations = nlohmann::json(*job.operations);
  }
  return ordered_json{{"experiment", job.experiment.name},
                      {"runs", job.experiment.runs},
                      {"run", job.run},
                      {"progress", job.progress},
                      {"is_only_case", job.is_only_case},
                      {"searches", job.experiment.searches},
                      {"operations", operations},
                      {"settings", texts_of(job.settings)},
                      {"cases", all}}
      .dump();
}

JobSpec job_spec_from(std::string_view text) {
  try {
    const auto json = nlohmann::json::parse(text);
    JobSpec job;
    json.at("experiment").get_to(job.experiment.name);
    json.at("runs").get_to(job.experiment.runs);
    json.at("searches").get_to(job.experiment.searches);
    if (!json.at("operations").is_null()) {
      job.operations = json.at("operations").get<OperationSweep>();
    }
    json.at("run").get_to(job.run);
    json.at("progress").get_to(job.progress);
    json.at("is_only_case").get_to(job.is_only_case);
    job.settings = settings_from(json.at("settings"));
    JsonNode{json.at("cases"), nullptr, "job"}.each(
        [&](const JsonNode& one) { job.experiment.cases.push_back(from_json(one)); });
    return job;
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(fmt::format("job: {}", error.what()));
  }
}

}  // namespace paceline::cases
