// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/verify_advice.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/cli/engine_probe.h"
#include "paceline/cli/own_runs.h"
#include "paceline/cli/verify_trial.h"
#include "paceline/predict/emulate.h"
#include "paceline/records/store.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kRanksPerCore = 16;    // as many as `paceline run` takes
constexpr int kAttempts = 3;         // at one, two and four times the stretch
constexpr double kStartSeconds = 5;  // of a run, where none was seen

int cores_here() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// A folder of its own, gone at the end.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "paceline-verify-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      throw WorldError("no folder for a log can be made in " +
                       fs::temp_directory_path().string());
    }
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string time_text(double seconds) {
  return seconds < 90 ? fmt::format("{:.0f} s", std::ceil(seconds))
                      : fmt::format("{:.0f} min", std::ceil(seconds / 60));
}

double seconds_of(const Stopwatch<>& watch) {
  return std::chrono::duration<double>(watch.elapsed()).count();
}

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

std::vector<records::RunRecord> records_in(const std::string& path) {
  return fs::exists(path)
             ? records::read_records(path, records::BrokenTail::kSkip).records
             : std::vector<records::RunRecord>{};
}

class Verifying {
 public:
  Verifying(const predict::AdviceTable& table,
            const predict::AdviseRequest& request,
            const VerifyOptions& options)
      : table_(table),
        request_(request),
        options_(options),
        where_(where_of(request, options)) {}

  Verification run() {
    trials_ = trials_of(table_, request_, where_, options_.count);
    if (trials_.empty()) {
      throw UsageError("--verify: no strategy of the table runs here");
    }
    if (static_cast<int>(trials_.size()) < options_.count) {
      note(fmt::format("no more than {} of the table run{}",
                       trials_.size(),
                       where_.replays ? " on replayed compute" : ""));
    }
    if (!where_.here && !settle_stretch()) {
      return std::move(verification_);
    }
    fit_into_minutes();
    announce();
    for (Trial& trial : trials_) {
      attempt(trial);
      verification_.rows.push_back(trial.row);
      if (verification_.stop_signal != 0) {
        break;
      }
    }
    return std::move(verification_);
  }

 private:
  double left_s() const { return options_.minutes * 60 - seconds_of(watch_); }

  // False where we were told to stop.
  bool settle_stretch() {
    std::vector<const simulator::Job*> jobs;
    for (const Trial& trial : trials_) {
      jobs.push_back(trial.prediction.job.get());
    }
    const EngineQuestion question = question_of(jobs);
    fmt::print(stderr,
               "verify: measuring how fast gloo is on {} ranks here ...",
               question.ranks);
    std::fflush(stderr);
    const Stopwatch<> watch;
    const EngineAnswer answer = probe_engine(
        question, folder_ / "comm.jsonl", runs_, milliseconds_of(left_s()));
    start_s_ = seconds_of(watch);
    fmt::print(stderr, " {}\n", time_text(start_s_));
    verification_.stop_signal = answer.ending.stop_signal;
    if (verification_.stop_signal != 0) {
      return false;
    }
    if (!answer.failure.empty()) {
      throw WorldError("--verify: the engine could not be measured: " +
                       answer.failure);
    }
    for (Trial& trial : trials_) {
      trial.row.stretch = std::ceil(predict::stretch_for(
          *trial.prediction.job, trial.link, answer.times));
    }
    return true;
  }

  double estimate_s(const Trial& trial) const {
    return start_s_ + trial.seconds();
  }

  // As many of the first as the minutes take.
  void fit_into_minutes() {
    double sum = 0;
    std::size_t fitting = 0;
    while (fitting < trials_.size() &&
           sum + estimate_s(trials_[fitting]) <= left_s()) {
      sum += estimate_s(trials_[fitting++]);
    }
    if (fitting == 0) {
      throw UsageError(fmt::format(
          "--verify: '{}' alone takes about {}, and --verify-minutes {:g} is "
          "all there is",
          trials_.front().row.strategy,
          time_text(estimate_s(trials_.front())),
          options_.minutes));
    }
    if (fitting < trials_.size()) {
      note(fmt::format("{} of {} were not run: more than --verify-minutes {:g}",
                       trials_.size() - fitting,
                       trials_.size(),
                       options_.minutes));
      trials_.resize(fitting);
    }
    estimate_s_ = sum;
  }

  void announce() {
    const cluster::LinkSpec& link = trials_.front().link;
    verification_.where =
        where_.here
            ? fmt::format("the cluster, whose first host is this machine{}",
                          where_.replays ? ", compute replayed" : "")
            : fmt::format(
                  "this machine: every rank behind an emulated link "
                  "of {:.4g} Gbit/s and {:g} us, compute replayed",
                  link.bytes_per_s * 8e-9,
                  static_cast<double>(link.latency_ns) * 1e-3);
    verification_.priced =
        where_.here ? fmt::format("predicted for engine {}, which runs here",
                                  where_.engine())
                    : "predicted for these links alone (engine link), not with "
                      "the costs of the engine that the advice is for";
    fmt::print(stderr,
               "verify: {} to run on {}",
               trials_.size() == 1
                   ? std::string("one strategy")
                   : fmt::format("{} strategies", trials_.size()),
               verification_.where);
    if (!where_.here) {
      const auto [least, most] = std::ranges::minmax_element(
          trials_, {}, [](const Trial& it) { return it.row.stretch; });
      fmt::print(
          stderr,
          ", {} times slower (--stretch) to leave the engine time",
          least->row.stretch == most->row.stretch
              ? fmt::format("{:g}", most->row.stretch)
              : fmt::format(
                    "{:g} to {:g}", least->row.stretch, most->row.stretch));
    }
    fmt::print(stderr,
               "; about {}, at most {:g} min\n",
               time_text(estimate_s_),
               options_.minutes);
    if (where_.replays) {
      write_profile(where_.profile, trials_.front().prediction);
    }
  }

  // Again at a larger stretch where the engine was too slow.
  void attempt(Trial& trial) {
    const double first = trial.row.stretch;
    trial.row.stretch *= slower_;
    if (estimate_s(trial) > left_s()) {
      trial.row.stretch = first;
    }
    for (int attempt = 1;; ++attempt) {
      run_once(trial);
      const Verified& row = trial.row;
      if (!row.error.empty() || row.valid() || attempt == kAttempts ||
          2 * estimate_s(trial) > left_s()) {
        return;
      }
      slower_ *= 2;
      trial.row.stretch *= 2;
      fmt::print(stderr,
                 "verify: {} of {} operations were slower than the link; "
                 "again, {:g} times slower\n",
                 row.late,
                 row.operations,
                 row.stretch);
    }
  }

  void run_once(Trial& trial) {
    fmt::print(stderr, "verify: {} ...", trial.row.strategy);
    std::fflush(stderr);
    const Stopwatch<> watch;
    const std::size_t before = records_in(options_.records).size();
    const launch::ChildExit ending = runs_.run(
        command_of(trial, where_, options_), milliseconds_of(left_s()));
    fmt::print(stderr, " {}\n", time_text(seconds_of(watch)));
    verification_.stop_signal = ending.stop_signal;
    auto records = records_in(options_.records);
    if (ending.stop_signal != 0) {
      trial.row.error = "stopped";
    } else if (ending.timed_out) {
      trial.row.error =
          fmt::format("not done in --verify-minutes {:g}", options_.minutes);
    } else if (records.size() == before) {
      trial.row.error = runs_.last_words();
    } else {
      take(records.back(), trial.row);
    }
  }

  void note(std::string text) {
    verification_.notes.push_back(std::move(text));
  }

  const predict::AdviceTable& table_;
  const predict::AdviseRequest& request_;
  const VerifyOptions& options_;
  Where where_;
  Folder folder_;
  OwnRuns runs_{folder_ / "log"};
  Stopwatch<> watch_;
  std::vector<Trial> trials_;
  double start_s_ = kStartSeconds;
  double estimate_s_ = 0;
  double slower_ = 1;  // than the first stretches, as one of them was too fast
  Verification verification_;
};

}  // namespace

void check_verification(const predict::AdviseRequest& request,
                        const VerifyOptions& options) {
  if (options.count < 0) {
    throw UsageError(
        fmt::format("--verify {}: must be 0 (none) or more", options.count));
  }
  if (!(options.minutes > 0) || options.minutes > 1e5) {
    throw UsageError(
        fmt::format("--verify-minutes {:g}: must be above 0 and at most 100000",
                    options.minutes));
  }
  const predict::PredictRequest& job = request.job;
  const int most = kRanksPerCore * cores_here();
  if (options.count > 0 && !where_of(request, options).here &&
      job.ranks > most) {
    throw UsageError(fmt::format(
        "--verify: cluster '{}' is not this machine, and {} ranks are more "
        "than its {} cores take with emulated links ({})",
        job.cluster.name,
        job.ranks,
        cores_here(),
        most));
  }
}

Verification verify(const predict::AdviceTable& table,
                    const predict::AdviseRequest& request,
                    const VerifyOptions& options) {
  return Verifying(table, request, options).run();
}

}  // namespace paceline::cli
