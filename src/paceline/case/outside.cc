// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/outside.h"

#include <algorithm>
#include <filesystem>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/command_keys.h"
#include "paceline/case/field.h"

namespace paceline::cases {
namespace {

// The name of a command's program without folders: the first word that ends in .py or .sh, else the
// first word that is no assignment.
std::string program_name_of(const std::string& command) {
  static const std::regex script_pattern(R"(([^\s/]+\.(?:py|sh))(?=[\s;&|,]|$))");
  static const std::regex word_pattern(R"((?:^|\s)(?:[^\s=]*/)?([^\s=/;&|,]+)(?=[\s;&|,]|$))");
  std::smatch found;
  return std::regex_search(command, found, script_pattern) ||
                 std::regex_search(command, found, word_pattern)
             ? found[1].str()
             : "";
}

void check_step_unit(const Case& c, const Where& where) {
  if (c.step_regex.empty()) {
    for (const auto& [key, value] :
         {std::pair{"step_unit", c.step_unit}, {"rate_scope", c.rate_scope}}) {
      where.reject_if(!value.empty(), key, "'{}' says what --step-regex finds, which is not given",
                      value);
    }
  }
  const bool tokens = c.step_unit == "tokens/s";
  where.reject_if(!c.rate_scope.empty() && c.step_unit != "samples/s" && !tokens, "rate_scope",
                  "'{}' needs --step-unit samples/s or tokens/s", c.rate_scope);
  where.reject_if(tokens && c.tokens_of_sample() == 0, "step_unit",
                  "'{}' needs --tokens-per-sample or --sequence-length", c.step_unit);
}

// Throws UsageError unless the numbers of warm-up and of measured steps are multiples of the steps
// that one line of output reports.
void check_lines(const Case& c, const Where& where) {
  for (const auto& [key, steps] : {std::pair{"warmup", c.warmup}, std::pair{"steps", c.steps}}) {
    where.reject_if(steps % c.steps_per_line != 0, key,
                    "'{}' steps are no whole number of lines of {} steps; take {}", steps,
                    c.steps_per_line, (steps / c.steps_per_line + 1) * c.steps_per_line);
  }
}

/// Throws UsageError for keys that say how a command is started and how its output is read, if the
/// case has no command.
void reject_keys_of_commands(const Case& c, const Where& where) {
  for (const Field& field : fields()) {
    const bool of_frameworks = field.name == "framework" || field.name == "python";
    where.reject_if(field.of.part == Part::kProgram && !of_frameworks &&
                        value_of(field, c) != default_value(field),
                    field.name, "'{}' belongs to --command, which is not given",
                    text_of(value_of(field, c)));
  }
}

void resolve_command(Case& c, const MachineFacts& machine, const Where& where) {
  where.reject_if(!c.framework.empty(), "command",
                  "the case has a framework too, {}; give one of the two", c.framework);
  where.reject_if(!c.reader.empty() && !c.step_regex.empty(), "reader",
                  "the case has --step-regex too, '{}'; give one of the two", c.step_regex);
  check_step_unit(c, where);
  check_lines(c, where);
  if (c.launcher.empty()) {
    c.launcher = "command";
  }
  where.reject_if(starts_its_ranks(c) && machine.joined(), "command",
                  "the command starts its ranks itself, so Paceline is started once and without "
                  "hosts; --launcher ranks starts it for each rank");
  if (!command_sees(c, "engine")) {
    c.engine = "";
  }
  if (c.label.empty()) {
    c.label = program_name_of(c.command);
  }
}

// Returns why the adapter, which is installed here, cannot run the case; empty if it can.
std::string unsupported_reason(const Adapter& adapter, const Case& c, const MachineFacts& machine) {
  const auto lacks = [](const std::vector<std::string>& has, const std::string& one) {
    return !has.empty() && std::ranges::find(has, one) == has.end();
  };
  if (c.compiled && !adapter.compiles) {
    return fmt::format("the adapter of {} has no compiled form", c.framework);
  }
  for (const auto& [has, one] : {std::pair{adapter.models, c.model},
                                 {adapter.dtypes, c.dtype},
                                 {adapter.optimizers, c.optimizer}}) {
    if (lacks(has, one)) {
      return fmt::format("the adapter of {} has {} alone, not {}", c.framework,
                         fmt::join(has, ", "), one);
    }
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
  PACELINE_CHECK(adapter.has_value());
  where.reject_if(c.python.find('/') != std::string::npos && !std::filesystem::exists(c.python),
                  "python", "there is no '{}'", c.python);
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
                  : unsupported_reason(*adapter, c, machine);
}

}  // namespace

bool has_own_network(const Case& c) {
  return c.command.empty() && c.replay.empty() && c.model.find(':') != std::string::npos;
}

bool runs_external_program(const Case& c) { return !c.framework.empty() || !c.command.empty(); }

std::string runner_name_of(const Case& c) {
  return !c.framework.empty() ? c.framework : !c.command.empty() ? "--command" : c.strategy;
}

bool starts_its_ranks(const Case& c) { return c.launcher == "command"; }

int processes_of(const Case& c) { return starts_its_ranks(c) ? 1 : c.ranks; }

std::string status_of_not_run(const Case& c) {
  const bool absent = c.not_run.find(kNotInstalled) != std::string::npos;
  return absent ? "not-installed" : "unsupported";
}

void check_adapter(const Case& c, const MachineFacts& machine, const Where& where) {
  if (c.framework.empty() || c.framework == kPaceline ||
      find_adapter(machine.adapters, c.framework)) {
    return;
  }
  where.reject_if(is_adapter_path(c.framework), "framework", "there is no file '{}'", c.framework);
  std::vector<std::string> known{kPaceline};
  for (const Adapter& one : machine.adapters) {
    known.push_back(one.name);
  }
  where.reject("framework", "{}", unknown_name_message("framework", c.framework, known));
}

void resolve_program(Case& c, const MachineFacts& machine, const Where& where) {
  if (c.framework == kPaceline) {
    c.framework = "";
  }
  if (c.command.empty()) {
    reject_keys_of_commands(c, where);
  }
  if (has_own_network(c) && c.framework.empty() && c.strategy != kExternalStrategy) {
    const std::string label = c.label;
    c.framework = kOwnNetwork;
    check_adapter(c, machine, where);
    resolve_framework(c, machine, where);
    c.label = label;  // the case keeps its strategy, which names it
    return;
  }
  if (!runs_external_program(c)) {
    where.reject_if(c.strategy == kExternalStrategy, "strategy",
                    "'{}' is the strategy of --framework and --command; give one of them",
                    c.strategy);
    if (c.compiled) {
      c.not_run = "Paceline's networks have no compiled form";
    }
    where.reject_if(!c.python.empty(), "python",
                    "'{}' runs an adapter, and the case has no framework", c.python);
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
