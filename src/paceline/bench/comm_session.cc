// SPDX-License-Identifier: Apache-2.0
#include "paceline/bench/comm_session.h"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/bench/bulletin.h"
#include "paceline/bench/environment.h"
#include "paceline/bench/host_cores.h"
#include "paceline/comm/line.h"

namespace paceline::bench {
namespace {

using nlohmann::json;

// No end: who watches over the ranks ends them.
constexpr std::chrono::milliseconds kForever{0};

std::string to_text(const CommSamples& samples) {
  return json{{"bytes", samples.bytes},
              {"duration_ns", samples.duration_ns},
              {"wire_bytes", samples.wire_bytes},
              {"wrong_elements", samples.wrong_elements}}
      .dump();
}

CommSamples samples_from(const std::string& text) {
  const json all = json::parse(text);
  return {.bytes = all.at("bytes"),
          .duration_ns = all.at("duration_ns"),
          .wire_bytes = all.at("wire_bytes"),
          .wrong_elements = all.at("wrong_elements")};
}

std::vector<int> ranks_per_host(const std::vector<std::string>& hosts) {
  std::vector<int> counts;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (rank == 0 || hosts[rank] != hosts[rank - 1]) {
      counts.push_back(0);
    }
    ++counts.back();
  }
  return counts;
}

// Adds a rank's samples: the longest duration of each iteration counts.
void merge(const CommSamples& samples, record::CommRecord& record) {
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

record::Warning above_line() {
  return {.code = "above-line",
          .seen = "an operation moved bytes faster than the plain stream",
          .why =
              "something else slowed the stream down, or the engine does "
              "not use its path",
          .advice = "measure again on an idle machine"};
}

class CommSession {
 public:
  CommSession(const comm::World& world,
              launch::Heartbeat& heart,
              const CommSessionOptions& options)
      : world_(world),
        options_(options),
        bulletin_(world, "comm/", [&heart](const std::string& what) {
          heart.beat(-1, "waiting for " + what);
        }) {}

  CommSessionResult run() {
    CommSessionResult result;
    result.environment = exchange_environment(
        world_,
        bulletin_,
        host_cores(world_, bulletin_, options_.timeout).usable);
    CommCases cases(world_, options_.setting, "comm");
    interface_ = cases.interface();
    double line = measure("before");
    for (const std::string& operation : options_.operations) {
      for (const std::int64_t bytes : options_.sizes) {
        const CommSamples mine =
            cases.run(operation, bytes, options_.warmup, options_.iterations);
        collect(operation, mine, result.records);
      }
    }
    line = std::max(line, measure("after"));
    for (record::CommRecord& record : result.records) {
      record.line_bytes_per_s = line;
      if (record.line_share().value_or(0) > 1) {
        record.warnings.push_back(above_line());
      }
      if (options_.done) {
        options_.done(record);
      }
    }
    return result;
  }

 private:
  double measure(const std::string& when) {
    if (world_.place.world < 2) {
      return 0;
    }
    bulletin_.line_up(when, world_.place.world, kForever);
    return comm::measure_line(world_, when, interface_, options_.timeout)
        .bytes_per_s;
  }

  void collect(const std::string& operation,
               const CommSamples& mine,
               std::vector<record::CommRecord>& records) {
    const int number = collected_++;
    const auto key = [number](int rank) {
      return fmt::format("case/{}/{}", number, rank);
    };
    if (world_.place.rank != 0) {
      bulletin_.post(key(world_.place.rank), to_text(mine));
      return;
    }
    record::CommRecord record;
    record.started_at =
        fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    record.operation = operation;
    record.ranks = world_.place.world;
    record.ranks_per_host = ranks_per_host(world_.hosts);
    record.engine = options_.setting.engine;
    record.device = options_.setting.device;
    record.dtype = options_.setting.dtype;
    record.interface = interface_;
    record.warmup = options_.warmup;
    merge(mine, record);
    for (int rank = 1; rank < world_.place.world; ++rank) {
      merge(samples_from(bulletin_.read(key(rank), kForever)), record);
    }
    records.push_back(std::move(record));
  }

  const comm::World& world_;
  const CommSessionOptions& options_;
  Bulletin bulletin_;
  std::string interface_;
  int collected_ = 0;
};

}  // namespace

CommSessionResult run_comm_session(const comm::World& world,
                                   launch::Heartbeat& heart,
                                   const CommSessionOptions& options) {
  return CommSession(world, heart, options).run();
}

}  // namespace paceline::bench
