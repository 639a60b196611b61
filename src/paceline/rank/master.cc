// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/master.h"

#include <string>

#include <fmt/format.h>

#include "paceline/rank/case_record.h"
#include "paceline/records/json.h"

namespace paceline::rank {
namespace {

constexpr const char* kStart = "master/start";
constexpr const char* kResults = "master/results";

std::string ready_key(int rank) { return fmt::format("master/ready/{}", rank); }

std::string window_key(int rank) { return fmt::format("master/window/{}", rank); }

}  // namespace

std::optional<int> master_of(const cases::Case& c) {
  return c.has_tables() && c.servers > 0 ? std::optional(c.trainers + c.servers) : std::nullopt;
}

bool is_master(const cases::Case& c, int rank) { return master_of(c) == rank; }

void start_together(const cases::Case& c, int rank, int ranks, launch::PrefixStore& store) {
  const std::optional<int> master = master_of(c);
  if (!master) {
    store.barrier("start", ranks);
  } else if (rank != *master) {
    store.set(ready_key(rank), "1");
    store.wait(kStart);
  } else {
    for (int other = 0; other < *master; ++other) {
      store.wait(ready_key(other));
    }
    store.set(kStart, "1");
  }
}

void tell_end_of_window(const cases::Case& c, int rank, launch::PrefixStore& store) {
  if (master_of(c)) {
    store.set(window_key(rank), "1");
  }
}

void wait_for_windows(const cases::Case& c, launch::PrefixStore& store) {
  for (int rank = 0; rank < *master_of(c); ++rank) {
    store.wait(window_key(rank));
  }
}

void hand_over_results(launch::PrefixStore& store, int ranks) {
  store.set(kResults, records::to_line(gather_results(store, ranks)));
}

records::RunRecord take_results(const cases::Case& c, launch::PrefixStore& store, int ranks) {
  return master_of(c) ? records::from_line(store.wait(kResults)) : gather_results(store, ranks);
}

}  // namespace paceline::rank
