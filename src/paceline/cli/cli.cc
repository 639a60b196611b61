// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/cli.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/cli/ab.h"
#include "paceline/cli/advise.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cli/comm_command.h"
#include "paceline/cli/diff.h"
#include "paceline/cli/doctor.h"
#include "paceline/cli/guide.h"
#include "paceline/cli/import_command.h"
#include "paceline/cli/list.h"
#include "paceline/cli/predict.h"
#include "paceline/cli/profile_command.h"
#include "paceline/cli/report.h"
#include "paceline/cli/run_command.h"
#include "paceline/cli/topology.h"
#include "paceline/engines/c10d_store.h"
#include "paceline/engines/failure.h"
#include "paceline/experiment/key.h"
#include "paceline/launch/command_guard.h"
#include "paceline/launch/host_agent.h"
#include "paceline/measure/rank.h"

namespace paceline::cli {
namespace {

/// Leaves out the flags that an option excludes, whose refusal names them.
class HelpFormatter final : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = CLI::Formatter::make_option_opts(option);
    return text.substr(0, text.find(" Excludes:"));
  }
};

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) {  // else it is not for people
      names.push_back(command->get_name());
    }
  }
  return names;
}

/// A first word that is no command, before CLI11 words it its own way.
void refuse_unknown_command(const CLI::App& app, const std::string& word) {
  const std::vector<std::string> known = names_of_commands(app);
  if (!word.starts_with("-") && word != launch::kHostAgent &&
      word != measure::kRank &&
      std::find(known.begin(), known.end(), word) == known.end()) {
    throw UsageError(unknown_name("command", word, known));
  }
}

/// Refuses the first flag that no option of the command has; CLI11 names it
/// among its values.
void refuse_unknown_flag(const CLI::App& command) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      known.push_back("--" + name);
    }
  }
  for (const std::string& extra : command.remaining()) {
    if (extra.starts_with("-")) {
      throw UsageError(experiment::unknown_flag(
          extra.substr(0, extra.find('=')), command.get_name(), known));
    }
  }
}

/// An exit code where the words ask for help, and nothing else is to be done.
std::optional<int> parse(CLI::App& app, std::vector<std::string> arguments) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == arguments.front()) {
      refuse_empty_values(*command, {arguments.begin() + 1, arguments.end()});
      arguments = with_joined_switches(*command, std::move(arguments));
    }
  }
  try {
    // CLI11 takes the words in reverse.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);  // --help
    }
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      for (const CLI::App* command : app.get_subcommands()) {
        refuse_unknown_flag(*command);
      }
    }
    throw UsageError(sentence_of(error));
  }
  return std::nullopt;
}

/// `paceline list [LIST]`.
class ListCommand {
 public:
  explicit ListCommand(CLI::App& app) {
    app.add_option("what", what_, "one of the lists: models, formats, ...")
        ->type_name("LIST");
  }
  ListCommand(const ListCommand&) = delete;
  ListCommand& operator=(const ListCommand&) = delete;

  int run() const {
    fmt::print("{}", list_text(what_));
    return 0;
  }

 private:
  std::string what_;
};

/// The hidden subcommand of a rank.
class RankCommand {
 public:
  explicit RankCommand(CLI::App& app) {
    app.add_option("--timeout", timeout_s_);
    app.add_option("--interface", interface_);
  }
  RankCommand(const RankCommand&) = delete;
  RankCommand& operator=(const RankCommand&) = delete;

  int run() const {
    return measure::run_rank(to_milliseconds(timeout_s_), interface_);
  }

 private:
  double timeout_s_ = 60;
  std::string interface_;
};

using Commands = std::vector<std::pair<const CLI::App*, std::function<int()>>>;

int run_parsed(const Commands& commands) {
  const auto parsed = std::ranges::find_if(
      commands, [](const auto& command) { return command.first->parsed(); });
  return parsed == commands.end() ? 0 : parsed->second();
}

/// Before the commands, which take the formatter from here.
void set_up(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", "paceline " PACELINE_VERSION);
}

/// The subcommands that look at this machine, or act for another one.
struct MeasuringApps {
  CLI::App *comm, *profile, *doctor, *agent;
};

MeasuringApps add_measuring(CLI::App& app) {
  return {.comm = app.add_subcommand("comm",
                                     "measure an engine's operations by size"),
          .profile = app.add_subcommand(
              "profile", "time the layers of a network on this machine"),
          .doctor = app.add_subcommand(
              "doctor", "look at this machine, and say what to change"),
          .agent = app.add_subcommand(launch::kHostAgent, "")->group("")};
}

int dispatch(std::vector<std::string> arguments) {
  if (arguments.size() > 1 && arguments.front() == launch::kCommandGuard) {
    return launch::guard_command({arguments.begin() + 1, arguments.end()});
  }
  CLI::App app("Measures and predicts distributed training.", "paceline");
  set_up(app);
  CLI::App* run = app.add_subcommand("run", "measure an experiment");
  CLI::App* report = app.add_subcommand(
      "report", "show records: a page, Markdown, CSV, tables");
  const MeasuringApps machine = add_measuring(app);
  CLI::App* list = app.add_subcommand(
      "list", "strategies, topologies, models, engines and all other tables");
  CLI::App* topology = app.add_subcommand(
      "topology", "a graph of neighbors: its matrix, cost and speed");
  CLI::App* import =
      app.add_subcommand("import", "files of other programs, as records");
  CLI::App* diff = app.add_subcommand("diff", "did a change help?");
  CLI::App* ab = app.add_subcommand("ab", "two commands in turns, compared");
  CLI::App* rank = app.add_subcommand(measure::kRank, "")->group("");
  RankCommand rank_command(*rank);
  RunCommand run_command(*run);
  const ReportCommand report_command(*report);
  const ImportCommand import_command(*import);
  DiffCommand diff_command(*diff);
  AbCommand ab_command(*ab);
  CLI::App* predict = app.add_subcommand(
      "predict", "price a job on a cluster that a file describes");
  const PredictCommand predict_command(*predict);
  CLI::App* advise = app.add_subcommand(
      "advise", "strategies for a cluster, by predicted step time");
  const AdviseCommand advise_command(*advise);
  ab_command.take_commands(arguments);
  ListCommand list_command(*list);
  const TopologyCommand topology_command(*topology);
  CommCommand comm_command(*machine.comm);
  ProfileCommand profile_command(*machine.profile);
  if (arguments.empty()) {
    fmt::print("{}", guide(names_of_commands(app)));
    return 0;
  }
  refuse_unknown_command(app, arguments.front());
  if (const std::optional<int> code = parse(app, arguments)) {
    return *code;
  }
  return run_parsed(
      {{run, [&] { return run_command.run(arguments); }},
       {report, [&] { return report_command.run(); }},
       {list, [&] { return list_command.run(); }},
       {topology, [&] { return topology_command.run(); }},
       {import, [&] { return import_command.run(); }},
       {diff, [&] { return diff_command.run(); }},
       {ab, [&] { return ab_command.run(); }},
       {machine.doctor, [] { return run_doctor(); }},
       {predict, [&] { return predict_command.run(); }},
       {advise, [&] { return advise_command.run(); }},
       {machine.comm, [&] { return comm_command.run(arguments); }},
       {machine.profile, [&] { return profile_command.run(); }},
       {machine.agent,
        [] { return launch::run_host_agent(engines::open_key_value_store); }},
       {rank, [&] { return rank_command.run(); }}});
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  try {
    return dispatch({argv + 1, argv + argc});
  } catch (const UsageError& error) {
    fmt::print(stderr, "paceline: {}\n", error.what());
    return kUsageErrorStatus;
  } catch (const std::exception& error) {
    fmt::print(
        stderr, "paceline: {}\n", engines::describe_failure(error, "failed"));
    return kWorldErrorStatus;
  }
}

}  // namespace paceline::cli
