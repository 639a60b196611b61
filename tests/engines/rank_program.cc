// SPDX-License-Identifier: Apache-2.0
// A small program with ranks, for the tests of launching and of faults.
//
//   rank_program launch RANKS TIMEOUT_MS MODE [ENGINE]
//                            starts and supervises ranks
//   rank_program rank TIMEOUT_MS MODE [ENGINE]
//                            is a rank, whoever started it
//
// Ranks add up integers over the engine, or gloo, step by step.  MODE is what the last rank does at
// step 5: kill, stop, exit, throw, closed-pipe (gets SIGPIPE, and works for twenty steps); before
// it connects: hang; what rank 0 does: kill-first, stop-first, term-first (is asked to stop alone);
// or what all do: usage, ok (twenty steps), forever (until asked to stop).
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <ATen/ATen.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/engines/c10d_store.h"
#include "paceline/engines/channel_spec.h"
#include "paceline/engines/engine.h"
#include "paceline/engines/run_rank.h"
#include "paceline/launch/job_launch.h"
#include "paceline/launch/signals.h"

namespace paceline {
namespace {

using Arguments = std::vector<std::string>;

void misbehave(const std::string& mode) {
  if (mode == "kill" || mode == "kill-first") {
    raise(SIGKILL);
  } else if (mode == "stop" || mode == "stop-first") {
    raise(SIGSTOP);
  } else if (mode == "term-first") {
    raise(SIGTERM);
    launch::throw_if_stop_requested();
  } else if (mode == "closed-pipe") {
    raise(SIGPIPE);
  } else if (mode == "exit") {
    _exit(0);
  } else if (mode == "throw") {
    throw std::runtime_error("broken on purpose");
  }
}

// True when any rank was asked to stop: all must leave after the same step.
bool agree_to_stop(engines::Channel& channel, const launch::StopSignals& stop) {
  const auto flag = at::full({1}, stop.requested() ? 1 : 0, at::kLong);
  channel.all_reduce(flag, plan::Reduce::kMax)->wait();
  return flag.item<std::int64_t>() != 0;
}

int work(const engines::RankContext& context, const launch::StopSignals& stop,
         const std::string& mode, const std::string& engine) {
  const launch::RankInfo& self = context.world.self;
  if (mode == "hang" && self.rank == self.world - 1) {
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  engines::ChannelSpec spec = engines::channel_spec(context.world, "all", self.world);
  spec.idle = [&] { context.heartbeat.note_progress(); };
  const auto channel = engines::make_engine(engine)->connect(spec);
  const int culprit = mode.ends_with("-first") ? 0 : self.world - 1;
  const launch::Heartbeat::Hold hold(context.heartbeat, launch::Heartbeat::Hold::For::kPeers);
  std::int64_t sum = 0;
  int step = 0;
  for (bool going = true; going; ++step) {
    context.heartbeat.beat(step, "all-reduce, 8 B");
    if (mode == "usage") {
      throw UsageError("--mode usage: rejected");
    }
    if (step == 5 && self.rank == culprit) {
      context.heartbeat.beat_now(step, "all-reduce, 8 B");
      misbehave(mode);
    }
    const auto values = at::full({1}, self.rank + 1, at::kLong);
    channel->all_reduce(values, plan::Reduce::kSum)->wait();
    sum += values.item<std::int64_t>();
    going = mode == "ok" || mode == "closed-pipe" ? step < 19 : !agree_to_stop(*channel, stop);
    if (step == 0 && self.rank == 0) {
      std::puts("first step done");
      std::fflush(stdout);
    }
  }
  std::printf("rank %d of %d, local %d of %d, %s, mean %g\n", self.rank, self.world,
              self.local_rank, self.local_world, self.launcher.c_str(),
              static_cast<double>(sum) / step);
  return 0;
}

int run(const Arguments& arguments) {
  const bool launches = arguments.size() > 1 && arguments[1] == "launch";
  const std::size_t without_engine = launches ? 5 : 4;
  const std::string engine = arguments.size() > without_engine ? arguments.back() : "gloo";
  if (arguments.size() >= without_engine && launches) {
    launch::JobLaunch job;
    job.serve_store = engines::serve_key_value_store;
    job.hosts = {{.host = launch::host_name(),
                  .ranks = std::stoi(arguments[2]),
                  .argv = {arguments[0], "rank", arguments[3], arguments[4], engine}}};
    job.mpirun = engines::find_engine(engine).mpirun;
    job.supervise.heartbeat_timeout = std::chrono::milliseconds(std::stoi(arguments[3]));
    const auto outcome = launch::launch_job(job);
    std::printf("outcome: %s\n", outcome.message.c_str());
    return outcome.exit_code;
  }
  if (arguments.size() >= without_engine && arguments[1] == "rank") {
    const launch::StopSignals stop;
    return engines::run_rank(launch::detect_launch(""),
                             std::chrono::milliseconds(std::stoi(arguments[2])),
                             [&](const engines::RankContext& context) {
                               return work(context, stop, arguments[3], engine);
                             });
  }
  throw UsageError("rank_program: wrong arguments");
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
  try {
    return paceline::run({argv, argv + argc});
  } catch (const paceline::UsageError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
