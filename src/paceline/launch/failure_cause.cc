// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/failure_cause.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <sys/wait.h>

#include "paceline/base/clock.h"
#include "paceline/launch/child_exit.h"

namespace paceline::launch {
namespace {

bool died_without_notice(const Child& child, KeyValueStore& store) {
  return child.status && !child.exited_with(0) &&
         std::ranges::none_of(child.all_ranks(),
                              [&](int rank) { return failure_of(store, rank).has_value(); });
}

FailureNotice describe_death(const Child& child, int rank, KeyValueStore& store) {
  const auto progress = read_progress(store, rank);
  return {.rank = rank,
          .host = child.host,
          .text = fmt::format("{}{}{}{}", child.exited_with(0) ? "left early: it " : "",
                              child.name.empty() ? "" : child.name + " ",
                              how_it_ended(*child.status), last_heartbeat_text(progress)),
          .role = role_of(progress)};
}

// The first rank that has not joined, where others have and wait for it.
std::optional<FailureNotice> find_missing(const std::vector<Child>& children,
                                          const SilentRank& silent, KeyValueStore& store) {
  std::optional<FailureNotice> missing;
  bool others_joined = false;
  for (const Child& child : children) {
    for (const int rank : child.all_ranks()) {
      const bool joined = store.get(host_key(rank)).has_value();
      others_joined = others_joined || joined;
      if (!joined && !missing) {
        missing = {
            rank, child.host,
            fmt::format(
                "did not join within {:.0f} s{}", to_seconds(silent.since),
                child.name.empty() ? "" : fmt::format("; {} has not started it", child.name))};
      }
    }
  }
  return others_joined ? missing : std::nullopt;
}

const Child* child_of(const std::vector<Child>& children, int rank) {
  const auto found =
      std::ranges::find_if(children, [&](const Child& child) { return child.holds(rank); });
  return found == children.end() ? nullptr : &*found;
}

// A rank that is not supervised here is another host's, and posted its notice.
bool ended_before(const std::vector<Child>& children, int rank, const Child& other) {
  const Child* one = child_of(children, rank);
  return one == nullptr || (one->status && one->ended <= other.ended);
}

FailureNotice find_unfinished(const std::vector<Child>& children, KeyValueStore& store) {
  std::optional<FailureNotice> consequence;
  std::int64_t earliest = 0;
  for (const Child& child : children) {
    for (const int rank : child.all_ranks()) {
      const auto progress = read_progress(store, rank);
      if (child.exited_with(0) && !(progress && progress->done)) {
        return describe_death(child, rank, store);
      }
      // The rank that is furthest behind holds up the others.
      const std::int64_t step = progress ? progress->step : -1;
      if (!consequence || step < earliest) {
        if (auto posted = failure_of(store, rank)) {
          consequence = std::move(posted);
          earliest = step;
        }
      }
    }
  }
  return consequence.value_or(FailureNotice{children.front().first_rank, children.front().host,
                                            "ended, and gave no reason"});
}

}  // namespace

bool Child::exited_with(int code) const {
  return status && WIFEXITED(*status) && WEXITSTATUS(*status) == code;
}

std::vector<int> Child::all_ranks() const {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), first_rank);
  return all;
}

FailureNotice find_cause(const std::vector<Child>& children,
                         const std::optional<SilentRank>& silent, KeyValueStore& store) {
  if (silent) {
    if (!silent->last) {
      if (auto missing = find_missing(children, *silent, store)) {
        return *std::move(missing);
      }
    }
    return notice_of(*silent, child_of(children, silent->rank)->host);
  }
  const auto posted = job_failure(store);
  const Child* dead = nullptr;
  for (const Child& child : children) {
    if (died_without_notice(child, store) && (dead == nullptr || child.ended < dead->ended)) {
      dead = &child;
    }
  }
  if (posted && (dead == nullptr || ended_before(children, posted->rank, *dead))) {
    return *posted;
  }
  return dead != nullptr ? describe_death(*dead, dead->first_rank, store)
                         : find_unfinished(children, store);
}

}  // namespace paceline::launch
