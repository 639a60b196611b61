// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/failure_record.h"

#include <algorithm>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/engines/run_rank.h"
#include "paceline/records/json.h"

namespace paceline::measure {
namespace {

using std::chrono::milliseconds;

// For how long the writer waits for the other ranks' samples.
constexpr milliseconds kSamplesTimeout{2000}, kSamplesTimeoutUnderMpirun{300};
// Rank 0 writes where it can; rank 1 leaves it so much time to begin.
constexpr milliseconds kRank0First{1000};
constexpr milliseconds kPoll{20};
// The store answers within this time, or its server is stopped.
constexpr milliseconds kAnswerTimeout{1000};

constexpr const char* kWriter = "so_far/writer";
constexpr const char* kWritten = "so_far/written";

}  // namespace

FailureRecord::FailureRecord(const engines::World& world,
                             experiment::JobSpec job)
    : world_(world), job_(std::move(job)) {
  if (world_.self.rank == 0 && !job_.settings.records.empty()) {
    writer_ = std::make_shared<records::RecordWriter>(job_.settings.records);
  }
}

void FailureRecord::set_environment(const records::Environment& environment) {
  const std::lock_guard lock(mutex_);
  environment_ = environment;
}

void FailureRecord::begin(const records::Configuration& c, int run) {
  const std::lock_guard lock(mutex_);
  case_ = c;
  job_.run = run;
  own_.reset();
}

void FailureRecord::tell(const records::RankSamples& samples) {
  {
    const std::lock_guard lock(mutex_);
    own_ = samples;
  }
  try {
    post_so_far(store(), samples);
  } catch (const WorldError&) {
    return;  // the store is gone, with the rank that served it
  }
}

bool FailureRecord::has_told() const {
  const std::lock_guard lock(mutex_);
  return own_ && !own_->step_ns.empty();
}

void FailureRecord::write(launch::FailureNotice& cause) {
  {
    const std::lock_guard lock(mutex_);
    if (case_ && cause.role.empty()) {
      cause.role = case_->role_of(cause.rank);
    }
  }
  std::call_once(written_, [&] {
    store_is_silent_ = !launch::answers(
        world_.store, std::min(kAnswerTimeout, samples_timeout()));
    tell_of_window();
    const bool writes = is_writer(cause);
    if (writes) {
      write_all(cause);
    }
    try {
      if (writes) {
        store().set(kWritten, "1");
      } else {
        launch::wait_for(
            store(), kWritten, kRank0First + 2 * samples_timeout());
      }
    } catch (const WorldError&) {
      // Nobody waits at a store that is gone; mpirun kills all ranks when the
      // second one ends.
      if (!writes && world_.self.launcher == "mpirun") {
        std::this_thread::sleep_for(kSamplesTimeoutUnderMpirun);
      }
    }
  });
}

// Where the window has not told its samples, because its thread hangs.  Times
// of a GPU cannot be read then.
void FailureRecord::tell_of_window() {
  {
    const std::lock_guard lock(mutex_);
    if (own_ || !case_ || case_->device != "cpu") {
      return;
    }
  }
  held_ = std::unique_lock(window_.mutex);
  if (window_.tell) {
    window_.tell(window_.take());
  }
}

void FailureRecord::write_all(const launch::FailureNotice& cause) {
  wait_for_others(cause);
  PartialSamples so_far = gather();
  const std::lock_guard lock(mutex_);
  if (case_ && !so_far.ranks.empty()) {
    so_far.environment = environment_;
    append(failed_record(job_.experiment.name,
                         *case_,
                         job_.run,
                         launch::message_of(cause),
                         std::move(so_far)));
  }
}

// A store whose server is stopped is as good as gone.
launch::KeyValueStore& FailureRecord::store() const {
  if (store_is_silent_) {
    throw WorldError("the key-value store does not answer");
  }
  return *world_.store;
}

// Where the store is gone with rank 0, rank 1 writes.
bool FailureRecord::is_writer(const launch::FailureNotice& cause) {
  try {
    if (world_.self.rank == 1 && cause.rank == 0) {
      launch::wait_for(store(), kWriter, kRank0First);
    }
    return (world_.self.rank == 0 ||
            (world_.self.rank == 1 && cause.rank == 0)) &&
           claim();
  } catch (const WorldError&) {
    return world_.self.rank == 0 ||
           (world_.self.rank == 1 && world_.rank_0_serves_store);
  }
}

bool FailureRecord::claim() {
  const std::string mine = std::to_string(world_.self.rank);
  return store().set_if_absent(kWriter, mine) == mine;
}

milliseconds FailureRecord::samples_timeout() const {
  return engines::is_killed_soon(world_) ? kSamplesTimeoutUnderMpirun
                                         : kSamplesTimeout;
}

// Until all ranks that train, but for the one that failed, have told samples.
void FailureRecord::wait_for_others(const launch::FailureNotice& cause) {
  int ranks = 0;
  {
    const std::lock_guard lock(mutex_);
    if (case_) {
      ranks = case_->has_tables() ? case_->trainers : case_->ranks;
    }
  }
  const Stopwatch watch;
  try {
    for (int rank = 0; rank < ranks; ++rank) {
      while (rank != cause.rank && rank != world_.self.rank &&
             !has_so_far(store(), rank) &&
             watch.elapsed() < samples_timeout()) {
        std::this_thread::sleep_for(kPoll);
      }
    }
  } catch (const WorldError&) {
    return;  // the store is gone, and their samples with it
  }
}

PartialSamples FailureRecord::gather() {
  try {
    return gather_so_far(store(), world_.self.world);
  } catch (const WorldError&) {
    const bool told = has_told();
    const std::lock_guard lock(mutex_);
    PartialSamples so_far;
    if (told) {
      so_far.ranks = {*own_};
    }
    return so_far;
  }
}

// Rank 1 takes no lock: where rank 0 is stopped, it holds the file's, and finds
// rank 1's record there when mpirun continues it.
void FailureRecord::append(const records::RunRecord& failed) {
  try {
    if (writer_ != nullptr) {
      if (!writer_->others_wrote()) {
        writer_->append(failed);
      }
    } else if (!job_.settings.records.empty()) {
      std::ofstream file(job_.settings.records, std::ios::app);
      file << records::to_line(failed) << '\n' << std::flush;
      if (!file) {
        throw WorldError(job_.settings.records + " cannot be written");
      }
    }
  } catch (const std::exception& error) {  // as of a full disk
    fmt::print(stderr, "warning: the samples so far: {}\n", error.what());
  }
}

void tell_environment(const engines::World& world,
                      FailureRecord* failure,
                      const records::Environment& environment) {
  if (failure != nullptr) {
    failure->set_environment(environment);
  } else if (world.self.rank == 0) {
    post_environment(*world.store, environment);
  }
}

}  // namespace paceline::measure
