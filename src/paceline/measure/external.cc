// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/external.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/port.h"
#include "paceline/measure/child.h"
#include "paceline/measure/version.h"
#include "paceline/strategies/strategy.h"

namespace paceline::measure {
namespace {

strategies::StrategySpec spec_of(const records::Configuration& c) {
  return strategies::parse_strategy(c.strategy, {.bucket_mb = c.bucket_mb});
}

nlohmann::json case_of(const records::Configuration& c) {
  const strategies::Options& options = spec_of(c).whole.options;
  return {{"model", c.model},
          {"batch_size", c.batch_size},
          {"image_size", c.image_size},
          {"classes", c.classes},
          {"warmup", c.warmup},
          {"steps", c.steps},
          {"bucket_mb", std::stod(options.text("bucket-mb"))},
          {"options", options.text("settings")},
          {"engine", c.engine},
          {"sync_each_step", c.sync_each_step},
          {"device", c.device},
          {"dtype", c.dtype},
          {"channels_last", c.channels_last},
          {"threads", c.threads},
          {"seed", c.seed},
          {"accumulate", c.accumulate},
          {"compat_accumulate", c.compat_accumulate},
          {"optimizer", c.optimizer},
          {"learning_rate", c.learning_rate},
          {"momentum", c.momentum},
          {"weight_decay", c.weight_decay}};
}

// Where the processes of the external command meet.
struct Rendezvous {
  std::string host;
  std::string port;
};

Rendezvous share_rendezvous(const engines::World& world,
                            launch::PrefixStore& store) {
  if (world.self.rank == 0) {
    store.set(
        "rendezvous/host",
        engines::on_one_host(world.hosts) ? "127.0.0.1" : world.self.host);
    store.set("rendezvous/port", std::to_string(free_port()));
  }
  return {store.wait("rendezvous/host"), store.wait("rendezvous/port")};
}

// How long the command may write nothing.  It starts and ends slowly; in
// between it writes once a second, or after each step where that takes longer.
class SilenceLimit {
 public:
  explicit SilenceLimit(std::chrono::nanoseconds timeout) : timeout_(timeout) {}

  std::chrono::milliseconds next() const {
    using std::chrono::seconds;
    const std::chrono::nanoseconds least =
        moving_ ? std::max<std::chrono::nanoseconds>(seconds(10), 10 * longest_)
                : seconds(180);
    return std::chrono::ceil<std::chrono::milliseconds>(
        std::max(timeout_, least));
  }

  void record_event(const std::string& event) {
    const std::int64_t now = steady_ns();
    if (last_ns_ != 0) {
      longest_ = std::max(longest_, std::chrono::nanoseconds(now - last_ns_));
    }
    last_ns_ = now;
    moving_ = event == "alive" || event == "step";
  }

 private:
  std::chrono::nanoseconds timeout_, longest_{0};
  std::int64_t last_ns_ = 0;  // 0: no event yet
  bool moving_ = false;
};

void take_event(const nlohmann::json& event, RankResult& result) {
  const std::string kind = event.at("event");
  if (kind == "step") {
    result.samples.step_ns.push_back(event.at("step_ns"));
    for (const auto& [phase, ns] : event.at("phases_ns").items()) {
      result.samples.phase_ns[phase].push_back(ns);
    }
  } else if (kind == "end") {
    if (!event.at("peak_memory_bytes").is_null()) {
      result.samples.peak_memory_bytes = event.at("peak_memory_bytes");
    }
    result.samples.window_ns = event.at("window_ns");
  } else if (kind == "error") {
    throw WorldError("the external command failed: " +
                     event.at("message").get<std::string>());
  }
}

}  // namespace

bool is_external(const records::Configuration& configuration) {
  return spec_of(configuration).external();
}

RankResult run_external(const engines::RankContext& context,
                        const records::Configuration& configuration,
                        launch::PrefixStore& store,
                        const experiment::Settings& settings,
                        const std::function<void(int, int)>& progress) {
  const engines::World& world = context.world;
  const Rendezvous rendezvous = share_rendezvous(world, store);
  Child child(
      {kPython, "-u", std::string(kAdapters) + "/python_ddp.py"},
      {{"RANK", std::to_string(world.self.rank)},
       {"WORLD_SIZE", std::to_string(configuration.ranks)},
       {"LOCAL_RANK", std::to_string(world.self.local_rank)},
       {"MASTER_ADDR", rendezvous.host},
       {"MASTER_PORT", rendezvous.port},
       {"OMP_NUM_THREADS", std::to_string(std::max(1, configuration.threads))},
       {"PACELINE_CASE", case_of(configuration).dump()}});
  RankResult result;
  result.samples.device = configuration.device;
  const int total = configuration.warmup + configuration.steps;
  int done = 0;
  const auto idle = [&] { progress(done, total); };
  SilenceLimit limit(settings.timeout_ms());
  while (const auto line = child.read_line(limit.next(), idle)) {
    try {
      const auto event = nlohmann::json::parse(*line);
      limit.record_event(event.at("event"));
      if (event.at("event") == "alive") {
        done = event.at("step");
        progress(done, total);
        context.heartbeat.beat(done, "external command");
      }
      take_event(event, result);
    } catch (const nlohmann::json::exception& e) {
      throw WorldError(
          fmt::format("the external command wrote '{}', which is no event ({})",
                      line->substr(0, 200),
                      e.what()));
    }
  }
  const int code = child.wait();
  if (code != 0 || result.samples.step_ns.size() !=
                       static_cast<std::size_t>(configuration.steps)) {
    throw WorldError(fmt::format(
        "the external command ended with code {} after {} of {} steps",
        code,
        result.samples.step_ns.size(),
        configuration.steps));
  }
  return result;
}

}  // namespace paceline::measure
