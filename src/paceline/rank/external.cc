// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/external.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/python_package.h"
#include "paceline/base/stream.h"
#include "paceline/case/json.h"
#include "paceline/case/outside.h"
#include "paceline/launch/heartbeat.h"
#include "paceline/rank/child.h"
#include "paceline/rank/outside_command.h"
#include "paceline/records/json.h"
#include "paceline/strategies/strategy.h"

namespace paceline::rank {
namespace {

// A failure of the external program: a status of RunRecord, and a sentence.
struct ExternalProgramError : std::runtime_error {
  ExternalProgramError(std::string kind, const std::string& message)
      : std::runtime_error(message), status(std::move(kind)) {}

  std::string status;
};

constexpr const char* kFailedKey = "failed";

// Agrees on the address and port where the processes of the external command meet.
ExternalProcess agree_on_rendezvous(const engines::World& world, int ranks,
                                    launch::PrefixStore& store) {
  if (world.self.rank == 0) {
    store.set("rendezvous/host", engines::on_one_host(world.hosts) ? "127.0.0.1" : world.self.host);
    store.set("rendezvous/port", std::to_string(free_port()));
  }
  return {.rank = world.self.rank,
          .local_rank = world.self.local_rank,
          .local_ranks = static_cast<int>(std::count(
              world.hosts.begin(),
              world.hosts.begin() + std::min<std::ptrdiff_t>(ranks, std::ssize(world.hosts)),
              world.self.host)),
          .world = world.self.world,
          .master_host = store.wait("rendezvous/host"),
          .master_port = store.wait("rendezvous/port")};
}

// A command that writes nothing for --timeout has failed, but it has at least this long, because it
// may start and end slowly, and write a line after some steps only.
constexpr std::chrono::milliseconds kLeastSilence = std::chrono::minutes(3);

// Throws ExternalProgramError if there are no samples, or samples of several ranks but not of all.
void check_all_ranks(const cases::Case& c, const std::vector<records::RankSamples>& ranks) {
  if (ranks.empty()) {
    throw ExternalProgramError(
        "no-samples",
        !c.reader.empty() ? fmt::format("it wrote no line of a step of {} (--reader)", c.reader)
        : c.step_regex.empty() ? std::string("it wrote no step (docs/adapters.md)")
                               : fmt::format("no line matches --step-regex '{}'", c.step_regex));
  }
  if (ranks.size() != 1 && ranks.size() != static_cast<std::size_t>(c.ranks)) {
    throw ExternalProgramError("wrong-count",
                               fmt::format("steps came of {} of {} ranks", ranks.size(), c.ranks));
  }
}

records::RunRecord record_from(const nlohmann::json& said) {
  try {
    return records::from_json(said);
  } catch (const UsageError& error) {  // the program reported a value that no record may have
    throw ExternalProgramError("bad-output", error.what());
  }
}

// The external command that one process runs for a case, and what is read of its output.  A process
// of paceline.readers.live runs the command and reads its output.
class ExternalExecution {
 public:
  ExternalExecution(const engines::RankContext& context, const cases::Case& configuration,
                    const ExternalOptions& options)
      : context_(context), configuration_(configuration), options_(options) {}

  records::RunRecord run(const ExternalProcess& place) {
    const ExternalCommand command = outside_command(configuration_, place);
    const records::Json job{{"configuration", cases::to_json(configuration_)},
                            {"rank", context_.world.self.rank},
                            {"words", command.words},
                            {"environment", command.environment},
                            {"without", command.without},
                            {"log", options_.log}};
    Child reader(python_module_command("paceline.readers.live"), {}, records::to_line(job));
    try {
      records::RunRecord part = read(reader);
      if (!part.ranks.empty() || !leaves_output_to_another()) {
        check_all_ranks(configuration_, part.ranks);
      }
      return part;
    } catch (const WorldError& error) {  // the command was silent for too long
      throw ExternalProgramError("timeout", error.what());
    }
  }

 private:
  records::RunRecord read(Child& reader) {
    while (const auto line = next_line(reader)) {
      const auto said = nlohmann::json::parse(*line);
      if (said.contains("failure")) {
        throw ExternalProgramError(said.at("status"), said.at("failure"));
      }
      if (!said.contains("done")) {
        return record_from(said);
      }
      if (said.at("done") != done_) {
        done_ = said.at("done");
        context_.heartbeat.beat(done_, cases::runner_name_of(configuration_));
      }
    }
    throw ExternalProgramError(
        "bad-output", "the reader of the program's output (paceline.readers.live) has ended");
  }

  void idle() const {
    const int total = configuration_.warmup + configuration_.steps;
    options_.progress(done_, total);
    if (context_.world.store->get(options_.prefix + kFailedKey)) {
      throw ExternalProgramError("", "");  // the failure of another rank is reported
    }
    if (static_cast<double>(steady_ns() - began_ns_) * 1e-9 > options_.settings.deadline) {
      throw ExternalProgramError(
          "timeout",
          fmt::format("not done after {:.0f} s, after {} of {} steps; --deadline gives it longer",
                      options_.settings.deadline, done_, total));
    }
  }

  // Returns whether this rank's command may report no steps, because the command of one rank may
  // report the steps of all ranks.
  bool leaves_output_to_another() const {
    return !configuration_.command.empty() && configuration_.ranks > 1 &&
           !cases::starts_its_ranks(configuration_);
  }

  // Returns the next line.  A rank that leaves the output to another rank may be silent as long as
  // that rank makes progress.
  std::optional<std::string> next_line(Child& reader) const {
    const auto limit = std::max(options_.settings.timeout_ms(), kLeastSilence);
    while (true) {
      const std::int64_t before = steps_of_others();
      try {
        return reader.read_line(limit, [this] { idle(); });
      } catch (const WorldError&) {
        if (done_ > 0 || !leaves_output_to_another() || steps_of_others() == before) {
          throw;
        }
      }
    }
  }

  std::int64_t steps_of_others() const {
    std::int64_t steps = 0;
    for (int rank = 0; leaves_output_to_another() && rank < configuration_.ranks; ++rank) {
      const auto progress = launch::read_progress(*context_.world.store, rank);
      steps += progress ? progress->step : 0;
    }
    return steps;
  }

  const engines::RankContext& context_;
  const cases::Case& configuration_;
  const ExternalOptions& options_;
  const std::int64_t began_ns_ = steady_ns();
  int done_ = 0;  // steps, warm-up included
};

void make_folder_of(const std::string& log) {
  if (!log.empty()) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(log).parent_path(), error);
  }
}

// Copies a failure into the record.  `text` describes the first failure of any rank as {"status":
// .., "message": ..}.
void take_failure(const std::string& text, records::RunRecord& part) {
  const auto told = nlohmann::json::parse(text);
  part.status = told.at("status");
  part.error = told.at("message");
}

}  // namespace

bool is_external(const cases::Case& configuration) {
  return cases::runs_external_program(configuration) ||
         strategies::strategy_of(configuration).external();
}

std::string log_path(const std::string& records, int run, std::size_t index,
                     const cases::Case& configuration, int rank) {
  std::error_code error;
  const auto file = std::filesystem::status(records, error);
  if (records.empty() ||
      (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file))) {
    return "";
  }
  std::string label = configuration.label.substr(0, 40);
  std::ranges::replace_if(
      label, [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  const std::string stem = fmt::format("{}.logs/run{}-case{}-{}-rank{}",
                                       std::filesystem::path(records).replace_extension().string(),
                                       run, index, label, rank);
  std::string path = stem + ".log";
  for (int number = 2; std::filesystem::exists(path, error); ++number) {
    path = fmt::format("{}-{}.log", stem, number);
  }
  return path;
}

records::RunRecord run_external(const engines::RankContext& context,
                                const cases::Case& configuration, launch::PrefixStore& store,
                                const ExternalOptions& options) {
  const engines::World& world = context.world;
  const std::string key = options.prefix + kFailedKey;
  records::RunRecord part;
  try {
    make_folder_of(options.log);
    part = ExternalExecution(context, configuration, options)
               .run(agree_on_rendezvous(world, configuration.ranks, store));
  } catch (const ExternalProgramError& failure) {
    const nlohmann::json told{
        {"status", failure.status},
        {"message", configuration.ranks > 1 && !cases::starts_its_ranks(configuration)
                        ? fmt::format("rank {}: {}", world.self.rank, failure.what())
                        : failure.what()}};
    take_failure(world.store->set_if_absent(key, told.dump()), part);
  }
  return part;
}

void check_external_record(records::RunRecord& whole) {
  if (!whole.error) {
    try {
      check_all_ranks(whole.configuration, whole.ranks);
    } catch (const ExternalProgramError& failure) {
      whole.ranks.clear();
      whole.error = failure.what();
      whole.status = failure.status;
    }
  }
  std::vector<records::Warning> kept;
  for (records::Warning& warning : whole.warnings) {
    if (std::ranges::find(kept, warning.code, &records::Warning::code) == kept.end()) {
      kept.push_back(std::move(warning));
    }
  }
  whole.warnings = std::move(kept);
}

void adopt_reported_versions(records::RunRecord& whole) {
  const auto said = [&](const char* key) {
    const auto found = whole.adapter.find(key);
    return found == whole.adapter.end() ? "" : found->second;
  };
  const bool is_torch = said("framework").find("torch") != std::string::npos;
  records::Environment& environment = whole.environment;
  environment.torch_version = is_torch ? said("framework_version") : said("torch_version");
  environment.cuda_version = said("cuda");
  environment.nccl_version = said("nccl");
  environment.torch_git = "";
}

}  // namespace paceline::rank
