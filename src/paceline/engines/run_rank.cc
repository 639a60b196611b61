// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/run_rank.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>

#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/engines/failure.h"
#include "paceline/engines/job_store.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/launch/rank_guard.h"

namespace paceline::engines {
namespace {

using std::chrono::milliseconds;

[[noreturn]] void end_process(const std::string& sentence, int exit_code) {
  if (!sentence.empty()) {
    fmt::print(stderr, "paceline: {}\n", sentence);
  }
  std::fflush(nullptr);
  _exit(exit_code);
}

// Who serves the store stays until the other guards have read the verdict.
constexpr milliseconds kLastReading{1500};

milliseconds beat_interval(milliseconds timeout) {
  return std::min(milliseconds(1000), timeout / 8);
}

launch::RankGuard::Options guard_of(
    const World& world,
    const std::shared_ptr<launch::Heartbeat>& heart,
    milliseconds timeout,
    const std::function<void()>& last_words) {
  launch::RankGuard::Options options;
  options.board = world.board;
  options.heart = heart;
  options.rank = world.place.rank;
  options.hosts = world.hosts;
  options.supervised = world.place.launcher == "paceline";
  options.board_is_rank_0s = world.store_is_rank_0s;
  options.timeout = timeout;
  options.end = [serves = world.serves_store,
                 last_words](const std::string& sentence) {
    if (last_words) {
      last_words();
    }
    if (serves) {
      std::this_thread::sleep_for(kLastReading);
    }
    end_process(sentence, 3);
  };
  return options;
}

[[noreturn]] void end_failed(const World& world,
                             const launch::RankGuard::Options& options,
                             const std::exception& error) {
  launch::FailureNotice notice;
  notice.rank = world.place.rank;
  notice.host = world.place.host;
  notice.text = describe_failure(error, "failed");
  notice.exit_code = dynamic_cast<const UsageError*>(&error) ? 2 : 3;
  notice.consequence = notice.exit_code == 3 &&
                       classify_failure(notice.text) != FailureKind::kOwn;
  std::string sentence;
  try {
    if (world.place.launcher == "paceline") {
      launch::post_failure(*world.board, notice);
    } else {
      // Four beats of a living heart fit in.
      sentence = launch::explain_failure(*world.board,
                                         notice,
                                         world.hosts,
                                         4 * beat_interval(options.timeout))
                     .value_or("");
      leave(world, kLastReading);
    }
  } catch (const WorldError&) {
    // The board is gone: if that is what broke this rank, rank 1 tells it.
    sentence = notice.consequence && options.board_is_rank_0s
                   ? launch::RankGuard::lost_board(options, notice.text)
                   : launch::sentence(notice);
  }
  end_process(sentence, notice.exit_code);
}

}  // namespace

int run_rank(const launch::Launch& launch,
             milliseconds timeout,
             const std::function<int(const RankContext&)>& body,
             const std::function<void()>& last_words) {
  quiet_engine_logs();
  // Our own launcher's parent knows better why a rank does not come.
  const bool supervised = launch.place.launcher == "paceline";
  const World world = join(launch, supervised ? 10 * timeout : timeout);
  const auto heart = std::make_shared<launch::Heartbeat>(
      world.board, world.place.rank, beat_interval(timeout));
  if (world.place.world == 1 && world.place.launcher != "paceline") {
    return body({world, *heart});
  }
  const auto options = guard_of(world, heart, timeout, last_words);
  const launch::RankGuard guard(options);
  int exit_code = 0;
  try {
    exit_code = body({world, *heart});
  } catch (const std::exception& error) {
    if (last_words) {
      last_words();
    }
    end_failed(world, options, error);
  }
  heart->finish();
  leave(world, timeout);
  return exit_code;
}

}  // namespace paceline::engines
