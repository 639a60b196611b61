// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/outside_command.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/python_package.h"
#include "paceline/base/shell.h"
#include "paceline/case/command_keys.h"
#include "paceline/case/field.h"
#include "paceline/case/json.h"
#include "paceline/case/outside.h"
#include "paceline/launch/rank_variables.h"
#include "paceline/strategies/strategy.h"

namespace paceline::rank {
namespace {

// Returns the adapter that performs one of PyTorch's own strategies.
std::string adapter_for(const strategies::StrategySpec& spec) {
  return spec.whole.row->name == "fsdp2" ? "pytorch-fsdp2" : "pytorch-ddp";
}

// Returns the part of the configuration that a rank of an external program needs, as JSON
// (docs/adapters.md). A key is left out if the case is a user's command and does not state its
// value.
nlohmann::json case_json(const cases::Case& c) {
  nlohmann::json handed = nlohmann::json::object();
  for (const std::string_view name : cases::case_variable_keys()) {
    if (const cases::Field& key = *cases::find_key(name); is_stated(key, c)) {
      handed[std::string(name)] = cases::json_of(value_of(key, c));
    }
  }
  return handed;
}

cases::Adapter adapter_of(const std::string& name) {
  const auto adapter = cases::find_adapter(list_adapters(), name);
  if (!adapter) {
    throw UsageError(fmt::format(
        "framework {}: there is no such file, and {}/adapters/adapters.toml has no such adapter",
        name, python_package().folder));
  }
  return *adapter;
}

std::map<std::string, std::string> rendezvous_variables(const cases::Case& c,
                                                        const ExternalProcess& place) {
  std::map<std::string, std::string> variables{{"RANK", std::to_string(place.rank)},
                                               {"WORLD_SIZE", std::to_string(c.ranks)},
                                               {"LOCAL_RANK", std::to_string(place.local_rank)},
                                               {"MASTER_ADDR", place.master_host},
                                               {"MASTER_PORT", place.master_port}};
  if (place.local_ranks > 0) {
    variables["LOCAL_WORLD_SIZE"] = std::to_string(place.local_ranks);
  }
  return variables;
}

// Returns the variables of the launcher that started Paceline, which the program must not inherit.
// Those of MPI and Slurm are included only if not all ranks take part: otherwise the program may
// join the MPI job in place of its rank.
std::vector<std::string> variables_not_passed_on(const cases::Case& c,
                                                 const ExternalProcess& place) {
  return launch::rank_variables(place.world == 0 || place.world == c.ranks
                                    ? launch::RankVariables::kTorch
                                    : launch::RankVariables::kAll);
}

ExternalCommand of_command(const cases::Case& c, const ExternalProcess& place) {
  ExternalCommand command{.words = {"sh", "-c", fill_placeholders(c.command, c, place)},
                          .environment = {{"PACELINE_CASE", case_json(c).dump()}},
                          .without = variables_not_passed_on(c, place)};
  if (!cases::starts_its_ranks(c)) {
    command.environment.merge(rendezvous_variables(c, place));
  }
  return command;
}

ExternalCommand of_adapter(const cases::Case& c, const ExternalProcess& place) {
  const bool named = !c.framework.empty();
  const auto spec = named ? strategies::StrategySpec() : strategies::strategy_of(c);
  const cases::Adapter adapter = adapter_of(named ? c.framework : adapter_for(spec));
  nlohmann::json job = case_json(c);
  if (named) {
    if (c.compiled) {
      job["compiled"] = true;
    }
    if (c.start != "random") {
      job["start"] = c.start;
    }
    if (c.framework == cases::kOwnNetwork) {
      job["strategy"] = c.strategy;
    }
    for (const auto& [key, value] : adapter.options) {
      job[key] = value;
    }
  } else if (spec.whole.row->name == "python-ddp") {
    const strategies::Options& options = spec.whole.options;
    job["bucket_mb"] = std::stod(options.text("bucket-mb"));
    job["options"] = options.text("settings");
  }
  ExternalCommand command{
      .words = python_module_command(adapter.module, c.python.empty() ? adapter.python : c.python),
      .environment = rendezvous_variables(c, place),
      .without = variables_not_passed_on(c, place)};
  command.words.insert(command.words.begin() + 1, "-u");  // unbuffered
  command.words.insert(command.words.end(), adapter.arguments.begin(), adapter.arguments.end());
  command.environment["PACELINE_CASE"] = job.dump();
  return command;
}

}  // namespace

std::vector<cases::Adapter> list_adapters() { return cases::read_adapters(python_package()); }

ExternalCommand outside_command(const cases::Case& c, const ExternalProcess& place) {
  ExternalCommand command = c.command.empty() ? of_adapter(c, place) : of_command(c, place);
  command.environment["OMP_NUM_THREADS"] = std::to_string(std::max(1, c.threads));
  command.environment.insert(c.env.begin(), c.env.end());
  return command;
}

std::string fill_placeholders(const std::string& text, const cases::Case& c,
                              const ExternalProcess& place) {
  auto values = cases::placeholders_of(c);
  values["port"] = place.master_port;
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text.find('}', i);
    const auto value = text[i] == '{' && end != std::string::npos && (i == 0 || text[i - 1] != '$')
                           ? values.find(text.substr(i + 1, end - i - 1))
                           : values.end();
    if (value == values.end()) {
      out += text[i];
    } else {
      out += value->second;
      i = end;
    }
  }
  return out;
}

std::string shell_text(const ExternalCommand& command) {
  std::string text;
  for (const auto& [name, value] : command.environment) {
    text += fmt::format("{}={} ", name, shell_word(value));
  }
  return text + shell_command(command.words);
}

}  // namespace paceline::rank
