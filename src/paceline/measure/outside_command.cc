// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/outside_command.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/python_package.h"
#include "paceline/base/shell.h"
#include "paceline/experiment/outside.h"
#include "paceline/launch/launch_command.h"
#include "paceline/strategies/strategy.h"

namespace paceline::measure {
namespace {

using records::Configuration;

constexpr const char* kPythonDdp = "pytorch-ddp";

// What one rank needs of the configuration (docs/adapters.md).
nlohmann::json case_of(const Configuration& c) {
  return {{"model", c.model},
          {"batch_size", c.batch_size},
          {"image_size", c.image_size},
          {"sequence_length", c.sequence_length},
          {"compat_zeros", c.compat_zeros},
          {"classes", c.classes},
          {"warmup", c.warmup},
          {"steps", c.steps},
          {"bucket_mb", c.bucket_mb},
          {"engine", c.engine},
          {"sync_each_step", c.sync_each_step},
          {"device", c.device},
          {"dtype", c.dtype},
          {"channels_last", c.channels_last},
          {"threads", c.threads},
          {"seed", c.seed},
          {"accumulate", c.accumulate},
          {"compat_accumulate", c.compat_accumulate},
          {"optimizer", c.optimizer},
          {"learning_rate", c.learning_rate},
          {"momentum", c.momentum},
          {"weight_decay", c.weight_decay},
          {"clip_norm", c.clip_norm}};
}

experiment::Adapter adapter_of(const std::string& name) {
  const std::vector<experiment::Adapter> adapters = adapters_here();
  const experiment::Adapter* adapter = experiment::find_adapter(adapters, name);
  if (adapter == nullptr) {
    throw UsageError(
        fmt::format("framework {}: {}/adapters/adapters.toml has no such "
                    "adapter",
                    name,
                    python_package().folder));
  }
  return *adapter;
}

std::map<std::string, std::string> place_of(const Configuration& c,
                                            const OutsidePlace& place) {
  return {{"RANK", std::to_string(place.rank)},
          {"WORLD_SIZE", std::to_string(c.ranks)},
          {"LOCAL_RANK", std::to_string(place.local_rank)},
          {"MASTER_ADDR", place.master_host},
          {"MASTER_PORT", place.master_port}};
}

OutsideCommand of_command(const Configuration& c, const OutsidePlace& place) {
  OutsideCommand command{.words = {"sh", "-c", filled_in(c.command, c, place)},
                         .environment = {{"PACELINE_CASE", case_of(c).dump()}}};
  if (experiment::starts_its_ranks(c)) {
    command.without = {"RANK",
                       "WORLD_SIZE",
                       "LOCAL_RANK",
                       "LOCAL_WORLD_SIZE",
                       "MASTER_ADDR",
                       "MASTER_PORT"};
  } else {
    command.environment.merge(place_of(c, place));
  }
  return command;
}

OutsideCommand of_adapter(const Configuration& c, const OutsidePlace& place) {
  const bool named = !c.framework.empty();
  const experiment::Adapter adapter =
      adapter_of(named ? c.framework : kPythonDdp);
  nlohmann::json job = case_of(c);
  if (named) {
    if (c.compiled) {
      job["compiled"] = true;
    }
    if (c.start != "random") {
      job["start"] = c.start;
    }
    for (const auto& [key, value] : adapter.options) {
      job[key] = value;
    }
  } else {
    const auto spec = strategies::strategy_of(c);
    const strategies::Options& options = spec.whole.options;
    job["bucket_mb"] = std::stod(options.text("bucket-mb"));
    job["options"] = options.text("settings");
  }
  OutsideCommand command{
      .words = python_module(adapter.module,
                             c.python.empty() ? adapter.python : c.python),
      .environment = place_of(c, place),
      // torchrun's, where it started Paceline: its store is not the adapter's.
      .without = {"TORCHELASTIC_USE_AGENT_STORE"}};
  command.words.insert(command.words.begin() + 1, "-u");  // unbuffered
  command.words.insert(
      command.words.end(), adapter.arguments.begin(), adapter.arguments.end());
  command.environment["PACELINE_CASE"] = job.dump();
  return command;
}

}  // namespace

std::vector<experiment::Adapter> adapters_here() {
  return experiment::read_adapters(python_package());
}

OutsideCommand outside_command(const Configuration& c,
                               const OutsidePlace& place) {
  OutsideCommand command =
      c.command.empty() ? of_adapter(c, place) : of_command(c, place);
  command.environment["OMP_NUM_THREADS"] =
      std::to_string(std::max(1, c.threads));
  command.environment.insert(c.env.begin(), c.env.end());
  return command;
}

std::string filled_in(const std::string& text,
                      const Configuration& c,
                      const OutsidePlace& place) {
  const std::map<std::string, std::string, std::less<>> values{
      {"ranks", std::to_string(c.ranks)},
      {"batch", std::to_string(c.batch_size)},
      {"global_batch", std::to_string(std::int64_t{c.batch_size} * c.ranks)},
      {"warmup", std::to_string(c.warmup)},
      {"steps", std::to_string(c.steps)},
      {"total", std::to_string(c.warmup + c.steps)},
      {"threads", std::to_string(c.threads)},
      {"seed", std::to_string(c.seed)},
      {"model", c.model},
      {"dtype", c.dtype},
      {"device", c.device},
      {"port", place.master_port}};
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text.find('}', i);
    const auto value = text[i] == '{' && end != std::string::npos &&
                               (i == 0 || text[i - 1] != '$')
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

std::string shell_text(const OutsideCommand& command) {
  std::string text;
  for (const auto& [name, value] : command.environment) {
    text += fmt::format("{}={} ", name, shell_word(value));
  }
  return text + shell_command(command.words);
}

}  // namespace paceline::measure
