// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/session.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <limits>
#include <memory>
#include <random>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/experiment/machine.h"
#include "paceline/measure/bulletin.h"
#include "paceline/measure/case_record.h"
#include "paceline/measure/case_run.h"
#include "paceline/measure/core_pin.h"
#include "paceline/measure/done.h"
#include "paceline/measure/environment.h"
#include "paceline/measure/estimate.h"
#include "paceline/measure/external.h"
#include "paceline/measure/host_cores.h"
#include "paceline/measure/known_times.h"
#include "paceline/measure/progress_line.h"
#include "paceline/measure/trace.h"
#include "paceline/measure/warnings.h"
#include "paceline/records/store.h"

namespace paceline::measure {
namespace {

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

// Thrown where a step or a wait notices that the session shall end.
struct StopRequested {
  int signal = 0;
};

// One session on one rank; `index` counts the cases that are not resumed.
class Session {
 public:
  Session(engines::World& world, const SessionOptions& options)
      : world_(world),
        options_(options),
        bulletin_(world,
                  fmt::format("session/{}/", options.run),
                  [this](const std::string& what) { idle(what); }) {
    if (leads() && !options.records_path.empty()) {
      writer_ = std::make_unique<records::RecordWriter>(options.records_path);
    }
  }

  int run() {
    try {
      return run_all();
    } catch (const StopRequested& stop) {
      return 128 + stop.signal;
    }
  }

 private:
  int run_all() {
    const HostCores cores = host_cores(world_, bulletin_, options_.timeout);
    cores_ = cores.usable;
    environment_ = exchange_environment(world_, bulletin_, cores_);
    check_hosts();
    const CorePin pin(world_.place.local_rank,
                      world_.place.local_world,
                      threads_to_pin(),
                      cores.apart);
    for (records::HostEnvironment& host : environment_.hosts) {
      host.facts["pinning"] = pin.description();
    }
    if (options_.resume && !options_.records_path.empty()) {
      done_ = agree_on_done(
          bulletin_, leads(), options_.records_path, options_.timeout);
    }
    Bulletin job(world_, "", [this](const std::string& what) { idle(what); });
    estimate_ = agree_on_estimate(world_, job, still_to_do(), options_, cores_);
    times_.emplace(world_, options_.cluster_file);
    std::vector<records::Configuration> todo = to_do_in(options_.run);
    interleave(todo);
    for (std::size_t i = 0; i < todo.size(); ++i) {
      run_one(i, todo.size(), todo[i]);
    }
    return 0;
  }

  std::vector<records::Configuration> to_do_in(int run) const {
    std::vector<records::Configuration> cases;
    for (const records::Configuration& c : options_.experiment.cases) {
      if (c.discard || !done_.contains({c.key(), run})) {
        cases.push_back(c);
      }
    }
    return cases;
  }

  // The cases of this repetition and of all later ones.
  std::vector<records::Configuration> still_to_do() const {
    std::vector<records::Configuration> cases;
    for (int run = options_.run; run < options_.experiment.runs; ++run) {
      const auto more = to_do_in(run);
      cases.insert(cases.end(), more.begin(), more.end());
    }
    return cases;
  }

  // Later repetitions take the cases in another order, the same on all ranks,
  // so that no case always follows the same one.
  void interleave(std::vector<records::Configuration>& cases) const {
    if (options_.run == 0) {
      return;
    }
    const auto measured = std::stable_partition(
        cases.begin(), cases.end(), [](const records::Configuration& c) {
          return c.discard;
        });
    std::mt19937 order(static_cast<std::uint32_t>(options_.run));
    for (auto left = cases.end() - measured; left > 1; --left) {
      std::swap(measured[left - 1],
                measured[static_cast<std::ptrdiff_t>(order()) % left]);
    }
  }

  // Threads of a rank on the CPU; so many that nothing is pinned where a case
  // runs on a GPU, whose host threads need room.
  int threads_to_pin() const {
    int threads = 1;
    for (const records::Configuration& c : options_.experiment.cases) {
      threads = std::max(
          threads,
          c.device == "cpu" ? c.threads : std::numeric_limits<int>::max());
    }
    return threads;
  }

  bool leads() const { return world_.place.rank == 0; }

  void idle(const std::string& what) {
    if (options_.heart != nullptr) {
      options_.heart->beat(-1, "waiting for " + what);
    }
    stop_if_asked();
  }

  void stop_if_asked() const {
    const int signal = options_.stop_signal ? options_.stop_signal() : 0;
    if (signal != 0) {
      throw StopRequested{signal};
    }
  }

  void check_hosts() {
    const std::string difference = host_differences(environment_);
    if (difference.empty()) {
      return;
    }
    if (options_.require_same_topology) {
      throw UsageError("--require-same-topology: the hosts differ: " +
                       difference);
    }
    if (leads()) {
      fmt::print(stderr, "warning: the hosts differ: {}\n", difference);
    }
    host_warning_ = {"hosts-differ",
                     difference,
                     "a step waits for its slowest rank",
                     "compare on equal hosts, or use --require-same-topology"};
  }

  void run_one(std::size_t index,
               std::size_t count,
               const records::Configuration& c) {
    stop_if_asked();
    Bulletin bulletin(world_,
                      fmt::format("session/{}/case/{}/", options_.run, index),
                      [this](const std::string& what) { idle(what); });
    if (world_.place.rank < c.ranks) {
      const std::string title =
          fmt::format("[{}/{}] {} {} ({} ranks)",
                      index + 1,
                      count,
                      c.model,
                      c.label.empty() ? c.strategy : c.label,
                      c.ranks);
      const RankResult mine = perform(c, bulletin, index, title);
      const bool one_host =
          std::ranges::all_of(world_.hosts, [&](const std::string& host) {
            return host == world_.hosts.front();
          });
      post_result(bulletin, world_.place.rank, mine, one_host);
      if (leads()) {
        collect(c, bulletin, mine.lined_up_ns);
      }
    }
    bulletin.line_up("end", world_.place.world, std::chrono::milliseconds(0));
  }

  RankResult perform(const records::Configuration& c,
                     Bulletin& bulletin,
                     std::size_t index,
                     const std::string& title) {
    ProgressLine line(options_.progress && leads());
    const auto progress = [&](int done, int total) {
      stop_if_asked();
      line.show(fmt::format("{}: step {} of {}", title, done, total));
    };
    RankResult result;
    if (is_external(c)) {
      result = run_external(world_, c, bulletin, options_, progress);
    } else {
      const PlanTimes known = times_->agree(c, bulletin);
      result =
          run_case(world_,
                   c,
                   bulletin,
                   {.name = fmt::format("run{}/case{}", options_.run, index),
                    .interface = options_.interface,
                    .timeout = options_.timeout,
                    .first_step = estimate_.first_step(
                        c, std::min(c.ranks, world_.place.local_world), cores_),
                    .record_spans = !options_.trace_path.empty(),
                    .times = known,
                    .heart = options_.heart.get(),
                    .progress = progress});
      times_->keep(c, known, result.times);
    }
    result.samples.rank = world_.place.rank;
    result.samples.host = world_.place.host;
    result.samples.local_rank = world_.place.local_rank;
    return result;
  }

  // Rank 0: one record of all ranks' results, and their spans.
  void collect(const records::Configuration& c,
               Bulletin& bulletin,
               std::int64_t lined_up_ns) {
    records::RunRecord whole = gather_results(bulletin, c.ranks);
    if (c.discard) {
      return;
    }
    whole.source = is_external(c)      ? records::Source::kExternal
                   : !c.replay.empty() ? records::Source::kReplayed
                                       : records::Source::kMeasured;
    if (!c.link.empty()) {
      whole.link_check = gather_link_check(bulletin, c);
    }
    whole.experiment = options_.experiment.name;
    whole.started_at = utc_now();
    whole.run = options_.run;
    whole.configuration = c;
    whole.environment = environment_;
    if (whole.planned_by && !whole.planned_by->remark.empty()) {
      fmt::print(stderr, "{}: {}\n", c.strategy, whole.planned_by->remark);
    }
    add_warnings(c, environment_, whole);
    if (host_warning_) {
      whole.warnings.push_back(*host_warning_);
    }
    if (writer_ != nullptr) {
      writer_->append(whole);
      if (options_.recorded) {
        options_.recorded();
      }
    }
    if (!options_.trace_path.empty()) {
      add_to_trace(gather_spans(bulletin, c.ranks, lined_up_ns - began_ns_));
    }
  }

  // The file is whole after every case.
  void add_to_trace(const std::vector<records::Span>& spans) {
    spans_.insert(spans_.end(), spans.begin(), spans.end());
    std::map<int, std::string> names;
    for (std::size_t rank = 0; rank < world_.hosts.size(); ++rank) {
      names.emplace(static_cast<int>(rank), world_.hosts[rank]);
    }
    records::write_trace_file(
        trace_path(options_.trace_path, options_.run), spans_, names);
  }

  engines::World& world_;
  const SessionOptions& options_;
  Bulletin bulletin_;
  std::unique_ptr<records::RecordWriter> writer_;
  records::Environment environment_;
  std::optional<records::Warning> host_warning_;
  int cores_ = 1;  // that all ranks of this host may use
  Done done_;      // before this session
  Estimate estimate_;
  std::optional<KnownTimes> times_;
  std::int64_t began_ns_ = steady_ns();
  std::vector<records::Span> spans_;  // of all cases, on rank 0's clock
};

}  // namespace

int run_session(engines::World& world, const SessionOptions& options) {
  return Session(world, options).run();
}

}  // namespace paceline::measure
