// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/outside.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/command_keys.h"
#include "paceline/case/field.h"
#include "paceline/strategies/strategy.h"

namespace paceline::cases {
namespace {

// The name of a command's program without folders: the first word that ends in .py or .sh, else the
// first word that is no assignment.
std::string program_of(const std::string& command) {
  std::string first;
  for (std::size_t begin = 0; begin < command.size();) {
    const std::size_t end = std::min(command.find_first_of(" \t", begin), command.size());
    std::string word = command.substr(begin, end - begin);
    begin = end + 1;
    word = word.substr(word.rfind('/') == std::string::npos ? 0 : word.rfind('/') + 1);
    word = word.substr(0, word.find_first_of(";&|,"));
    const bool assigns = word.find('=') != std::string::npos;
    if (word.ends_with(".py") || word.ends_with(".sh")) {
      return word;
    }
    if (first.empty() && !assigns) {
      first = word;
    }
  }
  return first;
}

void check_rate(const Case& c, const Where& where) {
  const bool tokens = c.step_unit == "tokens/s";
  if (!c.rate_scope.empty() && c.step_unit != "samples/s" && !tokens) {
    throw UsageError(fmt::format("{}: '{}' needs --step-unit samples/s or tokens/s",
                                 where("rate_scope"), c.rate_scope));
  }
  if (tokens && c.tokens_of_sample() == 0) {
    throw UsageError(fmt::format("{}: '{}' needs --tokens-per-sample or --sequence-length",
                                 where("step_unit"), c.step_unit));
  }
}

void check_units(const Case& c, const Where& where) {
  if (c.step_regex.empty()) {
    for (const auto& [key, value] :
         {std::pair{"step_unit", &c.step_unit}, std::pair{"rate_scope", &c.rate_scope}}) {
      if (!value->empty()) {
        throw UsageError(fmt::format("{}: '{}' says what --step-regex finds, which is not given",
                                     where(key), *value));
      }
    }
    return;
  }
  check_rate(c, where);
}

// Throws UsageError if a line that reports several steps could be partly warm-up, partly measured.
void check_lines(const Case& c, const Where& where) {
  for (const auto& [key, steps] : {std::pair{"warmup", c.warmup}, std::pair{"steps", c.steps}}) {
    if (steps % c.steps_per_line != 0) {
      throw UsageError(fmt::format(
          "{}: '{}' steps are no whole number of lines of {} steps; take {}", where(key), steps,
          c.steps_per_line, (steps / c.steps_per_line + 1) * c.steps_per_line));
    }
  }
}

/// Throws UsageError for keys that say how a command is started and read, if the case has no
/// command.
void reject_keys_of_commands(const Case& c, const Where& where) {
  for (const Field& field : fields()) {
    const bool of_frameworks = field.name == "framework" || field.name == "python";
    if (field.of.part == Part::kProgram && !of_frameworks &&
        value_of(field, c) != usual_value(field)) {
      throw UsageError(fmt::format("{}: '{}' belongs to --command, which is not given",
                                   where(field.name), read_key(field, c)));
    }
  }
}

void resolve_command(Case& c, const MachineFacts& machine, const Where& where) {
  if (!c.framework.empty()) {
    throw UsageError(fmt::format("{}: the case has a framework too, {}; give one of the two",
                                 where("command"), c.framework));
  }
  if (!c.reader.empty() && !c.step_regex.empty()) {
    throw UsageError(fmt::format("{}: the case has --step-regex too, '{}'; give one of the two",
                                 where("reader"), c.step_regex));
  }
  check_units(c, where);
  check_lines(c, where);
  if (c.launcher.empty()) {
    c.launcher = "command";
  }
  if (starts_its_ranks(c) && machine.joined()) {
    throw UsageError(
        fmt::format("{}: the command starts its ranks itself, so Paceline is started once and "
                    "without hosts; --launcher ranks starts it for each rank",
                    where("command")));
  }
  if (!command_sees(c, "engine")) {
    c.engine = "";
  }
  if (c.label.empty()) {
    c.label = program_of(c.command);
  }
}

// Whether the adapter cannot train BERT because the package transformers is missing. Only adapters
// that train all of Paceline's networks need it; it may be beside any adapter's PyTorch, or come
// from `make adapters NAME=bert`.
bool lacks_transformers(const Adapter& adapter, const std::string& model,
                        const MachineFacts& machine) {
  namespace fs = std::filesystem;
  if (!adapter.models.empty() || !model.starts_with("bert") || is_adapter_path(adapter.name)) {
    return false;
  }
  std::error_code none;
  if (!adapter.environments.empty() &&
      fs::exists(fs::path(adapter.environments) / "bert" / "installed", none)) {
    return false;
  }
  return std::ranges::none_of(
      machine.adapters, [](const Adapter& one) { return has_package(one.python, "transformers"); });
}

// Why the adapter, which is installed here, cannot run the case; empty if it can.
std::string lack_of(const Adapter& adapter, const Case& c, const MachineFacts& machine) {
  const auto lacks = [](const std::vector<std::string>& has, const std::string& one) {
    return !has.empty() && std::ranges::find(has, one) == has.end();
  };
  const auto alone = [&](const std::vector<std::string>& has, const std::string& one) {
    return fmt::format("the adapter of {} has {} alone, not {}", c.framework, fmt::join(has, ", "),
                       one);
  };
  if (c.python.empty() && lacks_transformers(adapter, c.model, machine)) {
    return not_installed(fmt::format("transformers, whose BERT {} trains,", c.framework), "bert",
                         adapter.environments);
  }
  if (c.compiled && !adapter.compiles) {
    return fmt::format("the adapter of {} has no compiled form", c.framework);
  }
  if (lacks(adapter.models, c.model)) {
    return alone(adapter.models, c.model);
  }
  if (lacks(adapter.dtypes, c.dtype)) {
    return alone(adapter.dtypes, c.dtype);
  }
  if (lacks(adapter.optimizers, c.optimizer)) {
    return alone(adapter.optimizers, c.optimizer);
  }
  if (lacks(adapter.devices, c.device)) {
    return fmt::format("the adapter of {} trains on {} alone, not on {}", c.framework,
                       fmt::join(adapter.devices, ", "), c.device);
  }
  if (adapter.one_host && machine.joined() && c.ranks_per_host.size() > 1) {
    return fmt::format("the adapter of {} trains on one host alone, not on {}", c.framework,
                       c.ranks_per_host.size());
  }
  if (!c.data.empty()) {
    return fmt::format(
        "the adapter of {} trains on one synthetic batch alone, not "
        "on '{}'",
        c.framework, c.data);
  }
  return "";
}

void resolve_framework(Case& c, const MachineFacts& machine, const Where& where) {
  const auto adapter = find_adapter(machine.adapters, c.framework);
  if (!adapter && is_adapter_path(c.framework)) {
    throw UsageError(fmt::format("{}: there is no file '{}'", where("framework"), c.framework));
  }
  if (!adapter) {
    std::vector<std::string> known{kPaceline};
    for (const Adapter& one : machine.adapters) {
      known.push_back(one.name);
    }
    throw UsageError(
        fmt::format("{}: {}", where("framework"), unknown_name("framework", c.framework, known)));
  }
  if (c.python.find('/') != std::string::npos && !std::filesystem::exists(c.python)) {
    throw UsageError(fmt::format("{}: there is no '{}'", where("python"), c.python));
  }
  c.launcher = "ranks";
  if (!adapter->engine.empty() && c.device == "cpu") {
    c.engine = adapter->engine;
  }
  if (c.label.empty()) {
    c.label = (is_adapter_path(c.framework) ? std::filesystem::path(c.framework).filename().string()
                                            : c.framework) +
              (c.compiled && !adapter->always_compiles ? "+compiled" : "");
  }
  if (adapter->always_compiles) {
    c.compiled = true;
  }
  c.not_run = !adapter->missing.empty() && (c.python.empty() || adapter->module.empty())
                  ? adapter->missing
                  : lack_of(*adapter, c, machine);
}

// A case with the user's own network keeps its strategy, which also gives it its label.
void resolve_own_network(Case& c, const MachineFacts& machine, const Where& where) {
  const std::string label = c.label;
  c.framework = kOwnNetwork;
  resolve_framework(c, machine, where);
  c.label = label;
}

}  // namespace

bool has_own_network(const Case& c) {
  return c.command.empty() && c.replay.empty() && c.model.find(':') != std::string::npos;
}

bool is_outside(const Case& c) { return !c.framework.empty() || !c.command.empty(); }

std::string performer_of(const Case& c) {
  return !c.framework.empty() ? c.framework : !c.command.empty() ? "--command" : c.strategy;
}

bool starts_its_ranks(const Case& c) { return c.launcher == "command"; }

int processes_of(const Case& c) { return starts_its_ranks(c) ? 1 : c.ranks; }

std::string status_of_not_run(const Case& c) {
  const bool absent = c.not_run.find(kNotInstalled) != std::string::npos;
  return absent ? "not-installed" : "unsupported";
}

void resolve_outside(Case& c, const MachineFacts& machine, const Where& where) {
  if (c.framework == kPaceline) {
    c.framework = "";
  }
  if (c.command.empty()) {
    reject_keys_of_commands(c, where);
  }
  if (has_own_network(c) && c.framework.empty() && c.strategy != kExternalStrategy) {
    resolve_own_network(c, machine, where);
    return;
  }
  if (!is_outside(c)) {
    if (c.strategy == kExternalStrategy) {
      throw UsageError(
          fmt::format("{}: '{}' is the strategy of --framework and --command; give one of them",
                      where("strategy"), c.strategy));
    }
    if (c.compiled) {
      c.not_run = "Paceline's networks have no compiled form";
    }
    if (!c.python.empty()) {
      throw UsageError(fmt::format("{}: '{}' runs an adapter, and the case has no framework",
                                   where("python"), c.python));
    }
    return;
  }
  c.strategy = kExternalStrategy;
  if (c.command.empty()) {
    resolve_framework(c, machine, where);
  } else {
    resolve_command(c, machine, where);
  }
}

}  // namespace paceline::cases
