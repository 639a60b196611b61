// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/comm_session.h"

#include <algorithm>
#include <ctime>
#include <iterator>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/cluster/link_spec.h"
#include "paceline/engines/line.h"
#include "paceline/measure/bulletin.h"
#include "paceline/measure/comm_rows.h"
#include "paceline/measure/environment.h"
#include "paceline/measure/host_cores.h"
#include "paceline/measure/link_check.h"
#include "paceline/measure/progress_line.h"

namespace paceline::measure {
namespace {

using nlohmann::json;

// No end: who watches over the ranks ends them.
constexpr std::chrono::milliseconds kForever{0};

// Where ranks sit on several hosts (`one_clock` false), times are counted from
// the first measured operation, which all of them began together.
std::string text_of(const CommSamples& samples, bool one_clock) {
  return json{
      {"bytes", samples.bytes},
      {"duration_ns", samples.duration_ns},
      {"wire_bytes", samples.wire_bytes},
      {"wrong_elements", samples.wrong_elements},
      {"linked", to_text(samples.linked, one_clock ? 0 : samples.began_ns)}}
      .dump();
}

CommSamples samples_from(const std::string& text) {
  const json all = json::parse(text);
  return {.bytes = all.at("bytes"),
          .duration_ns = all.at("duration_ns"),
          .wire_bytes = all.at("wire_bytes"),
          .wrong_elements = all.at("wrong_elements"),
          .linked = linked_operations_from(all.at("linked"))};
}

// Adds a rank's samples: the longest duration of each iteration counts.
void merge(const CommSamples& samples, records::CommRecord& record) {
  record.bytes = samples.bytes;
  record.wire_bytes = std::max(record.wire_bytes, samples.wire_bytes);
  record.wrong_elements =
      std::max(record.wrong_elements, samples.wrong_elements);
  record.iteration_ns.resize(samples.duration_ns.size(), 0);
  for (std::size_t i = 0; i < samples.duration_ns.size(); ++i) {
    record.iteration_ns[i] =
        std::max(record.iteration_ns[i], samples.duration_ns[i]);
  }
}

// Thrown where an iteration or a wait notices that the session shall end.
struct StopRequested {
  int signal = 0;
};

class CommSession {
 public:
  CommSession(const engines::World& world,
              launch::Heartbeat& heart,
              const CommSessionOptions& options,
              CommFindings& findings)
      : world_(world),
        options_(options),
        findings_(findings),
        heart_(heart),
        rows_(comm_rows(options.operations,
                        options.sizes,
                        options.setting.dtype,
                        world.place.world)),
        bulletin_(world, "comm/", [this](const std::string& what) {
          heart_.beat(launch::kNoSteps,
                      fmt::format("{}, waiting for {}", where_, what));
          stop_if_asked();
        }) {}

  void run() {
    const records::Environment environment = exchange_environment(
        world_,
        bulletin_,
        host_cores(world_, bulletin_, options_.timeout).usable);
    if (leads()) {
      findings_.begin(environment, world_.hosts);
    }
    CommCases cases(world_, options_.setting, "comm");
    interface_ = cases.interface();
    find_line("before");
    for (const CommRow& row : rows_) {
      arrive(fmt::format("at {} of {} B (row {} of {})",
                         row.operation,
                         row.bytes,
                         collected_ + 1,
                         rows_.size()));
      collect(row.operation, measure(cases, row.operation, row.bytes));
    }
    find_line("after");
  }

 private:
  bool leads() const { return world_.place.rank == 0; }

  void arrive(const std::string& where) {
    where_ = where;
    heart_.arrive(launch::kNoSteps, where);
  }

  void stop_if_asked() const {
    const int signal = options_.stop_signal ? options_.stop_signal() : 0;
    if (signal != 0) {
      throw StopRequested{signal};
    }
  }

  void find_line(const std::string& when) {
    arrive(fmt::format("at the line's measurement {} the rows", when));
    double bytes_per_s = 0;
    if (!options_.setting.link.empty()) {
      bytes_per_s =
          cluster::parse_link("--link", options_.setting.link).bytes_per_s;
    } else if (world_.place.world > 1) {
      bulletin_.line_up(when, world_.place.world, kForever);
      bytes_per_s =
          engines::measure_line(world_, when, interface_, options_.timeout)
              .bytes_per_s;
    }
    if (leads()) {
      findings_.add_line(bytes_per_s);
    }
  }

  CommSamples measure(CommCases& cases,
                      const std::string& operation,
                      std::int64_t bytes) {
    ProgressLine line(options_.progress && leads());
    const auto title = fmt::format("[{}/{}] {} of {} B ({} ranks)",
                                   collected_ + 1,
                                   rows_.size(),
                                   operation,
                                   bytes,
                                   world_.place.world);
    return cases.run(
        operation,
        bytes,
        {.warmup = options_.warmup,
         .measured = options_.iterations,
         .progress = [&](int done, int total) {
           stop_if_asked();
           line.show(fmt::format("{}: iteration {} of {}", title, done, total));
         }});
  }

  void collect(const std::string& operation, const CommSamples& mine) {
    const int number = collected_++;
    const auto key = [number](int rank) {
      return fmt::format("case/{}/{}", number, rank);
    };
    if (!leads()) {
      bulletin_.post(key(world_.place.rank), text_of(mine, one_clock()));
      return;
    }
    records::CommRecord record;
    record.started_at =
        fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    record.operation = operation;
    record.ranks = world_.place.world;
    record.ranks_per_host = engines::ranks_per_host(world_.hosts);
    record.engine = options_.setting.engine;
    record.device = options_.setting.device;
    record.dtype = options_.setting.dtype;
    record.interface = interface_;
    record.link = options_.setting.link;
    record.warmup = options_.warmup;
    std::vector<std::vector<engines::LinkedOperation>> linked;
    const auto take = [&](const std::string& text) {
      const CommSamples samples = samples_from(text);
      merge(samples, record);
      linked.push_back(samples.linked);
    };
    take(text_of(mine, one_clock()));
    for (int rank = 1; rank < world_.place.world; ++rank) {
      take(bulletin_.read(key(rank), kForever));
    }
    if (!record.link.empty()) {
      judge_link(linked, record);
    }
    findings_.add(record);
  }

  static void judge_link(
      const std::vector<std::vector<engines::LinkedOperation>>& linked,
      records::CommRecord& record) {
    const records::LinkCheck check = check_link(linked, 1);
    record.valid.reset();
    if (check.operations > 0) {
      record.link_slack_ns = check.slack_ns;
      record.valid = check.valid();
    }
  }

  bool one_clock() const {
    return std::ranges::count(world_.hosts, world_.hosts.front()) ==
           std::ssize(world_.hosts);
  }

  const engines::World& world_;
  const CommSessionOptions& options_;
  CommFindings& findings_;
  launch::Heartbeat& heart_;
  const std::vector<CommRow> rows_;
  std::string where_ = "before the first operation";
  Bulletin bulletin_;
  std::string interface_;
  int collected_ = 0;
};

}  // namespace

int run_comm_session(const engines::World& world,
                     launch::Heartbeat& heart,
                     const CommSessionOptions& options,
                     CommFindings& findings) {
  try {
    CommSession(world, heart, options, findings).run();
  } catch (const StopRequested& stop) {
    return 128 + stop.signal;
  }
  return 0;
}

}  // namespace paceline::measure
