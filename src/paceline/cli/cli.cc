// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/cli.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
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
#include "paceline/cli/calibrate_command.h"
#include "paceline/cli/comm_command.h"
#include "paceline/cli/diff.h"
#include "paceline/cli/doctor.h"
#include "paceline/cli/import_command.h"
#include "paceline/cli/list.h"
#include "paceline/cli/predict.h"
#include "paceline/cli/profile_command.h"
#include "paceline/cli/report.h"
#include "paceline/cli/run_command.h"
#include "paceline/cli/topology.h"
#include "paceline/engines/c10d_store.h"
#include "paceline/engines/failure.h"
#include "paceline/launch/host_agent.h"
#include "paceline/rank/rank.h"

namespace paceline::cli {
namespace {

/// Omits "Excludes:" with its flags from the help of an option; the error message names these
/// flags.
class HelpFormatter final : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = CLI::Formatter::make_option_opts(option);
    return text.substr(0, text.find(" Excludes:"));
  }
};

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) {  // an empty group: an internal command
      names.push_back(command->get_name());
    }
  }
  return names;
}

/// Throws UsageError if the first word is no command, before CLI11 reports it in its own words.
void reject_unknown_command(const CLI::App& app, const std::string& word) {
  const std::vector<std::string> known = names_of_commands(app);
  if (!word.starts_with("-") && word != launch::kHostAgent && word != rank::kRankSubcommand &&
      std::find(known.begin(), known.end(), word) == known.end()) {
    throw UsageError(unknown_name_message("command", word, known));
  }
}

/// Parses the arguments. Returns an exit code if they ask for help only, else nothing.
std::optional<int> parse(CLI::App& app, const std::vector<std::string>& arguments) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == arguments.front()) {
      check_flags(*command, {arguments.begin() + 1, arguments.end()});
    }
  }
  try {
    // CLI11 expects the words in reverse order.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ExtrasError&) {
    throw UsageError(
        fmt::format("unexpected argument '{0}'; paceline {1} --help says what it takes",
                    app.remaining(true).front(), arguments.front()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);  // --help
    }
    throw UsageError(sentence_of(error));
  }
  return std::nullopt;
}

constexpr const char* kFirstSteps =
    "First steps:\n"
    "  paceline doctor                          is this machine fit to measure on?\n"
    "  paceline run quick                       a first measurement, in about two minutes\n"
    "  paceline report RECORDS -o page.html     what was measured, as one page to share\n"
    "  paceline diff BASE TEST                  did a change help, and how sure is that?\n"
    "  paceline COMMAND --help                  every flag of a command\n";

using Arguments = std::vector<std::string>;

template <class Command>
constexpr bool kTakesArguments =
    std::is_invocable_v<decltype(&Command::run), Command&, const Arguments&>;

/// The subcommands, each with the function that runs it.
class Commands {
 public:
  using Run = std::function<int(const Arguments& arguments)>;

  explicit Commands(CLI::App& app) : app_(app) {}

  /// Adds a subcommand; one without a description is hidden.
  CLI::App& add(const std::string& name, const std::string& about, Run run) {
    CLI::App* command = app_.add_subcommand(name, about);
    if (about.empty()) {
      command->group("");
    }
    all_.emplace_back(command, std::move(run));
    return *command;
  }

  /// Adds a subcommand whose flags are members of `Command`, which runs it.
  template <class Command>
  Command& add(const std::string& name, const std::string& about) {
    CLI::App& app = add(name, about, {});
    const auto command = std::make_shared<Command>(app);
    all_.back().second = [command](const Arguments& arguments) {
      if constexpr (kTakesArguments<Command>) {
        return command->run(arguments);
      } else {
        return command->run();
      }
    };
    return *command;
  }

  int run_parsed(const Arguments& arguments) const {
    const auto parsed =
        std::ranges::find_if(all_, [](const auto& command) { return command.first->parsed(); });
    return parsed == all_.end() ? 0 : parsed->second(arguments);
  }

 private:
  CLI::App& app_;
  std::vector<std::pair<const CLI::App*, Run>> all_;
};

int dispatch(std::vector<std::string> arguments) {
  CLI::App app("Measures and predicts distributed training.", "paceline");
  app.set_version_flag("--version", "paceline " PACELINE_VERSION);
  // The formatter is set before the commands are added, as they copy it.
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(0, 1);  // a later word that names another command is an argument
  Commands commands(app);
  commands.add<RunCommand>("run", "measure an experiment");
  commands.add<ReportCommand>("report", "show records: a page, Markdown, CSV, tables");
  commands.add<CommCommand>("comm", "measure an engine's operations by size, or predict them");
  commands.add<CalibrateCommand>("calibrate", "describe a cluster by what was measured of it");
  commands.add<ProfileCommand>("profile", "time the layers of a network on this machine");
  commands.add("doctor", "look at this machine, and say what to change",
               [](const auto&) { return run_doctor(); });
  commands.add(launch::kHostAgent, "",
               [](const auto&) { return launch::run_host_agent(engines::open_key_value_store); });
  std::string list;
  commands
      .add("list", "strategies, topologies, models, engines and all other tables",
           [&list](const auto&) {
             fmt::print("{}", list_text(list));
             return 0;
           })
      .add_option("what", list, "one of the lists: models, formats, ...")
      ->type_name("LIST");
  commands.add<TopologyCommand>("topology", "a graph of neighbors: its matrix, cost and speed");
  commands.add<ImportCommand>("import", "files of other programs, as records");
  commands.add<DiffCommand>("diff", "did a change help?");
  commands.add<AbCommand>("ab", "two commands in turns, compared").take_commands(arguments);
  double timeout_s = 60;
  std::string interface;
  CLI::App& rank = commands.add(rank::kRankSubcommand, "", [&](const auto&) {
    return rank::run_rank(to_milliseconds(timeout_s), interface);
  });
  rank.add_option("--timeout", timeout_s);
  rank.add_option("--interface", interface);
  commands.add<PredictCommand>("predict", "price a job on a cluster that a file describes");
  commands.add<AdviseCommand>("advise", "strategies for a cluster, by predicted step time");
  app.footer(kFirstSteps);  // after the commands, which would copy it
  if (arguments.empty()) {
    fmt::print("{}", app.help());
    return 0;
  }
  reject_unknown_command(app, arguments.front());
  if (const std::optional<int> code = parse(app, arguments)) {
    return *code;
  }
  return commands.run_parsed(arguments);
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  try {
    return dispatch({argv + 1, argv + argc});
  } catch (const UsageError& error) {
    fmt::print(stderr, "paceline: {}\n", error.what());
    return kUsageErrorStatus;
  } catch (const std::exception& error) {
    fmt::print(stderr, "paceline: {}\n", engines::describe_failure(error, "failed"));
    return kWorldErrorStatus;
  }
}

}  // namespace paceline::cli
