// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/comm_session.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/clock.h"
#include "paceline/base/ranks_per_host.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/engines/line_rate.h"
#include "paceline/engines/peer_wait.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/launch/signals.h"
#include "paceline/measure/comm_case.h"
#include "paceline/measure/cores.h"
#include "paceline/measure/environment.h"
#include "paceline/measure/link_check.h"
#include "paceline/measure/progress_line.h"

namespace paceline::measure {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(
    CommSetting, engine, device, dtype, interface, link)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CommSessionOptions,
                                   setting,
                                   operations,
                                   sizes,
                                   warmup,
                                   iterations,
                                   progress)

namespace {

using nlohmann::json;

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
      std::max(record.wrong_elements.value_or(0), samples.wrong_elements);
  record.iteration_ns.resize(samples.duration_ns.size(), 0);
  for (std::size_t i = 0; i < samples.duration_ns.size(); ++i) {
    record.iteration_ns[i] =
        std::max(record.iteration_ns[i], samples.duration_ns[i]);
  }
}

class CommSession {
 public:
  CommSession(const engines::World& world,
              launch::Heartbeat& heartbeat,
              const CommSessionOptions& options,
              CommFindings& findings)
      : world_(world),
        options_(options),
        findings_(findings),
        heartbeat_(heartbeat),
        rows_(comm_rows(options.operations,
                        options.sizes,
                        options.setting.dtype,
                        world.self.world)),
        store_(world.store,
               world.self.rank,
               "comm/",
               &heartbeat,
               [this] { wait(); }),
        progress_(progress_on(is_rank_0(), options.progress)) {}

  void run() {
    const records::Environment environment =
        exchange_environment(world_, store_, host_cores(world_, store_).usable);
    if (is_rank_0()) {
      findings_.begin(environment, world_.hosts);
    }
    CommCases cases(world_,
                    options_.setting,
                    "comm",
                    {.idle = [this] { wait(); }, .timeout = options_.timeout});
    interface_ = cases.interface();
    measure_line("before");
    for (const CommRow& row : rows_) {
      report_position(fmt::format("at {} of {} B (row {} of {})",
                                  row.operation,
                                  row.bytes,
                                  collected_ + 1,
                                  rows_.size()));
      const CommSamples mine = measure(cases, row.operation, row.bytes);
      progress_.clear();
      collect(row.operation, mine);
    }
    measure_line("after");
  }

 private:
  bool is_rank_0() const { return world_.self.rank == 0; }

  void report_position(const std::string& where) {
    where_ = where;
    heartbeat_.beat_now(launch::kNoSteps, where);
  }

  void wait() const {
    heartbeat_.beat(launch::kNoSteps, where_ + ", waiting for the other ranks");
    launch::throw_if_stop_requested();
  }

  void measure_line(const std::string& when) {
    report_position(
        fmt::format("at the measurement of the line rate {} the rows", when));
    double bytes_per_s = 0;
    if (!options_.setting.link.empty()) {
      bytes_per_s =
          cluster::parse_link("--link", options_.setting.link).bytes_per_s;
    } else if (world_.self.world > 1) {
      store_.barrier(when, world_.self.world);
      bytes_per_s = engines::measure_line_rate(
                        world_, store_, when, interface_, options_.timeout)
                        .bytes_per_s;
    }
    if (is_rank_0()) {
      findings_.add_line(bytes_per_s);
    }
  }

  CommSamples measure(CommCases& cases,
                      const std::string& operation,
                      std::int64_t bytes) {
    const auto title = fmt::format("[{}/{}] {} of {} B ({} ranks)",
                                   collected_ + 1,
                                   rows_.size(),
                                   operation,
                                   bytes,
                                   world_.self.world);
    return cases.run(operation,
                     bytes,
                     {.warmup = options_.warmup,
                      .measured = options_.iterations,
                      .progress = [&](int done, int total) {
                        launch::throw_if_stop_requested();
                        heartbeat_.beat(launch::kNoSteps, where_);
                        progress_.show(fmt::format(
                            "{}: iteration {} of {}", title, done, total));
                      }});
  }

  void collect(const std::string& operation, const CommSamples& mine) {
    const int number = collected_++;
    const auto key = [number](int rank) {
      return fmt::format("case/{}/{}", number, rank);
    };
    if (!is_rank_0()) {
      store_.set(key(world_.self.rank),
                 text_of(mine, engines::on_one_host(world_.hosts)));
      return;
    }
    records::CommRecord record;
    record.started_at = utc_now();
    record.operation = operation;
    record.ranks = world_.self.world;
    record.ranks_per_host = ranks_per_host<std::string>(world_.hosts);
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
    take(text_of(mine, engines::on_one_host(world_.hosts)));
    for (int rank = 1; rank < world_.self.world; ++rank) {
      take(store_.wait(key(rank)));
    }
    if (!record.link.empty()) {
      check_link_model(linked, record);
    }
    findings_.add(record);
  }

  static void check_link_model(
      const std::vector<std::vector<engines::LinkedOperation>>& linked,
      records::CommRecord& record) {
    const records::LinkCheck check = check_link(linked, 1);
    record.valid.reset();
    if (check.operations > 0) {
      record.link_slack_ns = check.slack_ns;
      record.valid = is_as_long_as_its_link(record);
    }
  }

  const engines::World& world_;
  const CommSessionOptions& options_;
  CommFindings& findings_;
  launch::Heartbeat& heartbeat_;
  const std::vector<CommRow> rows_;
  std::string where_ = "before the first operation";
  launch::PrefixStore store_;
  ProgressLine progress_;
  std::string interface_;
  int collected_ = 0;
};

}  // namespace

std::string to_text(const CommSessionOptions& options) {
  return json(options).dump();
}

CommSessionOptions comm_session_options_from(const std::string& text) {
  return json::parse(text).get<CommSessionOptions>();
}

int run_comm_session(const engines::World& world,
                     launch::Heartbeat& heartbeat,
                     const CommSessionOptions& options,
                     CommFindings& findings) {
  try {
    // Its ranks do little but wait for each other.
    const launch::Heartbeat::Hold hold(heartbeat,
                                       launch::Heartbeat::Hold::For::kPeers);
    CommSession(world, heartbeat, options, findings).run();
  } catch (const launch::StopRequested& stop) {
    return 128 + stop.signal;
  }
  return 0;
}

}  // namespace paceline::measure
