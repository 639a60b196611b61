// SPDX-License-Identifier: Apache-2.0
#include "paceline/experiment/job_spec.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/experiment/command_keys.h"
#include "paceline/experiment/key.h"
#include "paceline/experiment/outside.h"

namespace paceline::experiment {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OperationSweep,
                                   engine,
                                   device,
                                   dtype,
                                   link,
                                   operations,
                                   sizes,
                                   ranks,
                                   warmup,
                                   iterations,
                                   fit,
                                   command)

namespace {

using nlohmann::ordered_json;

/// What may be none of a key's values: the engine of an adapter, what a command
/// computes on and in; and what no key has.
constexpr auto kDerived = std::to_array<
    std::pair<const char*, std::string records::Configuration::*>>(
    {{"engine", &records::Configuration::engine},
     {"device", &records::Configuration::device},
     {"dtype", &records::Configuration::dtype},
     {"not_run", &records::Configuration::not_run}});

constexpr const char* kUnstated = "unstated";

/// Every key that `owner` has, as text; empty ones are left out.
template <class Owner>
ordered_json texts_of(const Owner& owner, bool case_keys) {
  ordered_json texts = ordered_json::object();
  for (const Key& key : keys()) {
    if (is_case_key(key) == case_keys) {
      if (std::string text = read_key(key, owner); !text.empty()) {
        texts[std::string(key.name)] = std::move(text);
      }
    }
  }
  return texts;
}

template <class Owner>
Owner owner_from(const ordered_json& texts) {
  Owner owner;
  for (const auto& [name, text] :
       texts.get<std::map<std::string, std::string>>()) {
    const Key* key = find_key(name);
    if (key == nullptr) {
      throw UsageError(fmt::format("job: {}", unknown_key(name, false)));
    }
    assign_key(*key, text, "job: " + name, owner);
  }
  return owner;
}

}  // namespace

int ranks_of(const JobSpec& job) {
  return job.operations ? job.operations->ranks
                        : most_processes(job.experiment);
}

std::vector<std::string> engines_of(const JobSpec& job) {
  std::vector<std::string> engines;
  if (job.operations) {
    engines.push_back(job.operations->engine);
  }
  for (const records::Configuration& c : job.experiment.cases) {
    if (!is_outside(c)) {
      std::ranges::copy(c.engines(), std::back_inserter(engines));
    }
  }
  return engines;
}

std::string to_text(const JobSpec& job) {
  ordered_json cases = ordered_json::array();
  for (const records::Configuration& c : job.experiment.cases) {
    cases.push_back(texts_of(c, true));
    for (const auto& [name, member] : kDerived) {
      cases.back()[name] = c.*member;
    }
    for (const Key& key : keys()) {
      if (!is_stated(c, key.name)) {
        cases.back().erase(std::string(key.name));
      }
    }
    cases.back()[kUnstated] = c.unstated;
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
                      {"settings", texts_of(job.settings, false)},
                      {"cases", cases}}
      .dump();
}

JobSpec job_spec_from(std::string_view text) {
  try {
    const auto json = ordered_json::parse(text);
    JobSpec job;
    json.at("experiment").get_to(job.experiment.name);
    json.at("runs").get_to(job.experiment.runs);
    json.at("searches").get_to(job.experiment.searches);
    if (!json.at("operations").is_null()) {
      job.operations =
          nlohmann::json(json.at("operations")).get<OperationSweep>();
    }
    json.at("run").get_to(job.run);
    json.at("progress").get_to(job.progress);
    json.at("is_only_case").get_to(job.is_only_case);
    job.settings = owner_from<Settings>(json.at("settings"));
    for (const ordered_json& one : json.at("cases")) {
      ordered_json keys = one;
      keys.erase(kUnstated);
      for (const auto& [name, member] : kDerived) {
        keys.erase(name);
      }
      auto c = owner_from<records::Configuration>(keys);
      for (const auto& [name, member] : kDerived) {
        if (one.contains(name)) {
          one.at(name).get_to(c.*member);
        }
      }
      for (const auto& key : one.at(kUnstated).get<std::set<std::string>>()) {
        c.forget(key);
      }
      job.experiment.cases.push_back(std::move(c));
    }
    return job;
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(fmt::format("job: {}", error.what()));
  }
}

}  // namespace paceline::experiment
