// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "paceline/engines/world.h"
#include "paceline/experiment/job_spec.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/measure/case_record.h"
#include "paceline/measure/window.h"
#include "paceline/records/run_record.h"
#include "paceline/records/store.h"

namespace paceline::measure {

/// The record of the case that a failure of any rank ends, where no parent of
/// the ranks writes it: under torchrun, mpirun and srun.  Rank 0 writes it with
/// the samples that all ranks have told; where rank 0 is the rank that failed,
/// rank 1 does, on its own host.  Members may be called from any thread.
class FailureRecord {
 public:
  /// On rank 0, opens the job's file of records, where it names one.
  FailureRecord(const engines::World& world, experiment::JobSpec job);

  /// Writes all of the job's records; null on other ranks.
  std::shared_ptr<records::RecordWriter> writer() const { return writer_; }
  void close() { writer_.reset(); }

  /// What was found around the ranks.
  void set_environment(const records::Environment& environment);

  /// From here on `c` is the case that fails, in repetition `run`.
  void begin(const records::Configuration& c, int run);

  /// Through which the samples of a step that hangs are read.
  WindowAccess& window() { return window_; }

  /// This rank's samples so far, which it also tells the other ranks.
  void tell(const records::RankSamples& samples);
  bool has_told() const;

  /// Writes the record, where this is the rank that does and there are samples;
  /// else waits for a while until it is written, because launchers end all
  /// ranks once one has ended.  The second call writes nothing.  Adds to
  /// `cause` the role of a rank whose store is gone.
  void write(launch::FailureNotice& cause);

 private:
  launch::KeyValueStore& store() const;
  bool is_writer(const launch::FailureNotice& cause);
  bool claim();
  void tell_of_window();
  void write_all(const launch::FailureNotice& cause);
  void wait_for_others(const launch::FailureNotice& cause);
  PartialSamples gather();
  void append(const records::RunRecord& failed);
  std::chrono::milliseconds samples_timeout() const;

  const engines::World& world_;
  experiment::JobSpec job_;
  std::shared_ptr<records::RecordWriter> writer_;
  std::once_flag written_;
  std::atomic<bool> store_is_silent_ = false;
  WindowAccess window_;
  std::unique_lock<std::mutex> held_;  // of the window, to the end
  mutable std::mutex mutex_;           // guards what follows
  records::Environment environment_;
  std::optional<records::Configuration> case_;
  std::optional<records::RankSamples> own_;
};

/// Keeps what was found around the ranks for the record of a case that fails:
/// on this rank, or where `failure` is null, with the parent of the ranks.
void tell_environment(const engines::World& world,
                      FailureRecord* failure,
                      const records::Environment& environment);

/// Null where `failure` is.
inline WindowAccess* window_of(FailureRecord* failure) {
  return failure != nullptr ? &failure->window() : nullptr;
}

}  // namespace paceline::measure
