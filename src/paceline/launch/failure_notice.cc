// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/failure_notice.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"

namespace paceline::launch {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FailureNotice, rank, host, text, consequence, exit_code, role)

namespace {

constexpr const char* kCause = "failure/cause";
constexpr const char* kFoundBy = "failure/found_by";
constexpr const char* kPrinted = "failure/printed";

constexpr std::chrono::milliseconds kPoll{20};
// The wait of a rank that its launcher will kill a second after asking it to stop; the rest of that
// second is needed for other writes.
constexpr std::chrono::milliseconds kHurriedWait{300};

std::string failure_key(int rank) { return fmt::format("failure/{}", rank); }

// The key that a rank sets when its launcher has asked it to stop.
std::string stop_request_key(int rank) { return fmt::format("failure/asked/{}", rank); }

// The key that a rank sets when it leaves because it was asked to stop.
std::string stop_key(int rank) { return fmt::format("failure/stopped/{}", rank); }

std::string encode(const FailureNotice& notice) {
  return nlohmann::json(notice).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<FailureNotice> read_notice(KeyValueStore& store, const std::string& key) {
  const auto text = store.get(key);
  return text ? std::optional(nlohmann::json::parse(*text).get<FailureNotice>()) : std::nullopt;
}

bool post_cause(KeyValueStore& store, const FailureNotice& notice) {
  const auto text = encode(notice);
  return store.set_if_absent(kCause, text) == text;
}

FailureNotice notice_of_death(int rank, const std::optional<Progress>& last,
                              const std::vector<std::string>& hosts) {
  return {.rank = rank,
          .host = hosts[static_cast<std::size_t>(rank)],
          .text = "ended without an error message" + last_heartbeat_text(last),
          .role = role_of(last)};
}

// Returns the notice of a rank that posted nothing, did not finish, and sent no heartbeat
// meanwhile.
std::optional<FailureNotice> notice_of_silent_rank(KeyValueStore& store, FailureDetector& detector,
                                                   const std::vector<std::string>& hosts) {
  detector.poll(store, steady_now());
  while (const auto silent = detector.silent_rank()) {
    if (failure_notice_of(store, silent->rank)) {
      detector.remove(silent->rank);
      continue;
    }
    return notice_of_death(silent->rank, silent->last, hosts);
  }
  return std::nullopt;
}

// The notice of the only rank that has not answered, if there is exactly one. If a launcher has
// asked all ranks to stop because one has died, the dead rank is among those that do not answer.
std::optional<FailureNotice> notice_of_unresponsive_rank(KeyValueStore& store,
                                                         const std::vector<std::string>& hosts) {
  std::optional<FailureNotice> unresponsive;
  for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
    const auto last = read_progress(store, rank);
    if ((last && last->done) || failure_notice_of(store, rank) ||
        store.get(stop_request_key(rank))) {
      continue;
    }
    if (unresponsive) {
      return std::nullopt;
    }
    unresponsive = {
        .rank = rank,
        .host = hosts[static_cast<std::size_t>(rank)],
        .text = "did not answer when all ranks were asked to stop" + last_heartbeat_text(last),
        .role = role_of(last)};
  }
  return unresponsive;
}

// Returns whether the launcher asked `rank` to stop but not the other ranks. These then do not
// answer because they still work.
bool is_only_rank_asked_to_stop(KeyValueStore& store, int rank, int world) {
  for (int other = 0; other < world; ++other) {
    if (other != rank && (store.get(stop_request_key(other)) || stop_notice_of(store, other))) {
      return false;
    }
  }
  return true;
}

// Returns the notice that a rank posts if it has not found the cause in time.
FailureNotice notice_without_cause(KeyValueStore& store, const FailureNotice& mine,
                                   const std::vector<std::string>& hosts,
                                   bool launcher_will_end_rank) {
  if (!launcher_will_end_rank) {
    for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
      if (auto stop = stop_notice_of(store, rank)) {
        return *std::move(stop);
      }
    }
    for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
      const auto progress = read_progress(store, rank);
      if (progress && progress->done) {
        return {.rank = rank,
                .host = hosts[static_cast<std::size_t>(rank)],
                .text = "left the job early, without an error" + last_heartbeat_text(progress),
                .role = role_of(progress)};
      }
    }
    return mine;
  }
  if (const auto unresponsive = notice_of_unresponsive_rank(store, hosts)) {
    return *unresponsive;
  }
  FailureNotice asked = mine;
  asked.text = "was asked to stop before it knew which other rank has failed: " + mine.text;
  return asked;
}

}  // namespace

std::string failure_message(const FailureNotice& notice) {
  if (notice.exit_code == kUsageErrorStatus) {
    return notice.text;
  }
  const std::string rank = fmt::format("rank {}", notice.rank);
  return fmt::format("{} on host {}: {}",
                     notice.role.empty() ? rank : fmt::format("{} ({})", notice.role, rank),
                     notice.host, notice.text);
}

FailureNotice silent_rank_notice(const SilentRank& silent, const std::string& host) {
  return {.rank = silent.rank,
          .host = host,
          .text = fmt::format("stopped answering {:.0f} s ago{}", to_seconds(silent.since),
                              last_heartbeat_text(silent.last)),
          .role = role_of(silent.last)};
}

bool post_failure(KeyValueStore& store, const FailureNotice& notice) {
  store.set_if_absent(failure_key(notice.rank), encode(notice));
  return !notice.consequence && post_cause(store, notice);
}

std::optional<FailureNotice> job_failure_cause(KeyValueStore& store) {
  return read_notice(store, kCause);
}

std::optional<FailureNotice> failure_notice_of(KeyValueStore& store, int rank) {
  return read_notice(store, failure_key(rank));
}

void post_stop(KeyValueStore& store, FailureNotice asked) {
  store.set(stop_key(asked.rank), encode(asked));
  asked.consequence = true;
  post_failure(store, asked);
}

std::optional<FailureNotice> stop_notice_of(KeyValueStore& store, int rank) {
  return read_notice(store, stop_key(rank));
}

std::optional<FailureNotice> notice_of_killed_rank(KeyValueStore& store,
                                                   const std::vector<std::string>& hosts,
                                                   const EndedRanks& ended) {
  // ended() is called before the store is read, because a rank first writes why it ends, and then
  // ends.
  for (const int rank : ended ? ended() : std::vector<int>()) {
    const auto progress = read_progress(store, rank);
    if (!(progress && progress->done) && !failure_notice_of(store, rank)) {
      return notice_of_death(rank, progress, hosts);
    }
  }
  return std::nullopt;
}

bool post_death(KeyValueStore& store, const FailureNotice& dead, int finder) {
  // The thread is named too, as several threads of a rank may find the same death.
  const std::string me = fmt::format("{}/{}", finder, gettid());
  return post_cause(store, dead) && store.set_if_absent(kFoundBy, me) == me;
}

std::optional<FailureNotice> await_cause(KeyValueStore& store, int rank,
                                         const std::vector<std::string>& hosts,
                                         const EndedRanks& ended,
                                         std::chrono::milliseconds timeout) {
  store.set(stop_request_key(rank), "1");
  const Stopwatch watch;
  for (;;) {
    if (auto cause = job_failure_cause(store)) {
      return cause;
    }
    const bool late = watch.elapsed() >= timeout;
    auto dead = notice_of_killed_rank(store, hosts, ended);
    if (!dead && late && !is_only_rank_asked_to_stop(store, rank, static_cast<int>(hosts.size()))) {
      dead = notice_of_unresponsive_rank(store, hosts);
    }
    if (dead) {
      post_cause(store, *dead);
      return job_failure_cause(store);
    }
    if (late) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

std::optional<std::string> explain_failure(KeyValueStore& store, const FailureNotice& mine,
                                           const std::vector<std::string>& hosts,
                                           std::chrono::milliseconds timeout,
                                           const FailureObserver& observer) {
  if (post_failure(store, mine)) {
    return failure_message(mine);
  }
  if (!mine.consequence) {
    return std::nullopt;
  }
  std::vector<int> others;
  for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
    if (rank != mine.rank) {
      others.push_back(rank);
    }
  }
  // Three quarters of the timeout are long enough for several heartbeats.
  FailureDetector detector(others, timeout * 3 / 4);
  const Stopwatch watch;
  bool launcher_will_end_rank = false;
  while (watch.elapsed() < (launcher_will_end_rank ? std::min(kHurriedWait, timeout) : timeout)) {
    if (job_failure_cause(store)) {
      return std::nullopt;
    }
    auto dead = notice_of_killed_rank(store, hosts, observer.ended);
    if (!dead) {
      dead = notice_of_silent_rank(store, detector, hosts);
    }
    if (dead) {
      // Several ranks find the death at once; their notices are equal.
      return post_death(store, *dead, mine.rank) ? std::optional(failure_message(*dead))
                                                 : std::nullopt;
    }
    if (!launcher_will_end_rank && observer.launcher_will_end_rank &&
        observer.launcher_will_end_rank()) {
      launcher_will_end_rank = true;
      store.set(stop_request_key(mine.rank), "1");
    }
    std::this_thread::sleep_for(kPoll);
  }
  const FailureNotice last = notice_without_cause(store, mine, hosts, launcher_will_end_rank);
  return post_death(store, last, mine.rank) ? std::optional(failure_message(last)) : std::nullopt;
}

void announce_printed(KeyValueStore& store) { store.set(kPrinted, "1"); }

void wait_until_printed(KeyValueStore& store, std::chrono::milliseconds timeout) {
  wait_for(store, kPrinted, timeout);
}

}  // namespace paceline::launch
