// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paceline/launch/key_value_store.h"
#include "paceline/rank/case_order.h"
#include "paceline/rank/case_run.h"

namespace paceline::rank {

/// Stores a rank's part of the case's record in the case's key-value store: samples, warnings and
/// what an adapter reported about itself, or an error.
void post_part(launch::PrefixStore& store, int rank, const records::RunRecord& part);

/// Stores what post_part() stores for a case that Paceline itself runs, the rank's spans, and the
/// operations on its emulated link.  If the ranks are on several hosts (`one_clock` false), the
/// times of these operations are counted from the barrier before the warm-up.
void post_result(launch::PrefixStore& store, int rank, const RankResult& result, bool one_clock);

/// Stores this rank's samples of the steps that ended before its case failed.
void post_partial_samples(launch::KeyValueStore& store, records::RankSamples samples);

/// Stores the environment that rank 0 collected, for records that the front (the process that
/// started the ranks) writes if the ranks fail.
void post_environment(launch::KeyValueStore& store, const records::Environment& environment);

/// The samples and the environment that a failed case left in the store.
struct PartialSamples {
  records::Environment environment;
  std::vector<records::RankSamples> ranks;
};

/// Returns what the ranks of a failed case have stored, cut to the steps that ended on all of them.
/// Embedding lookups are not cut: they count each rank's own steps.
PartialSamples gather_partial_samples(launch::KeyValueStore& store, int ranks);

/// Returns the source of the case's samples: external, replayed or measured.
records::Source source_of(const cases::Case& configuration);

/// Returns the record of a case that failed for the reason `why`.
records::RunRecord failed_record(const std::string& experiment, const cases::Case& configuration,
                                 int run, const std::string& why, PartialSamples so_far);

/// The RunRecord::status of a case that its ranks rejected as invalid before its first step.
inline constexpr const char* kRejected = "rejected";

/// The key in the job's store whose value is the key of the running case.  Rank 0 sets it.
inline constexpr const char* kCurrentCaseKey = "case";

/// Passes a record to the front process through the store, as a line of the record file.  `index`
/// is the record's number in the repetition, from 0.
void post_finished_record(launch::KeyValueStore& store, int run, std::size_t index,
                          const std::string& line);

/// Returns the line that post_finished_record() has stored, or nothing if there is none yet.
std::optional<std::string> finished_record_line(launch::KeyValueStore& store, int run,
                                                std::size_t index);

/// These functions store and read the set of cases of which the front already has records.
void post_completed_cases(launch::KeyValueStore& store, const CompletedCases& completed);
CompletedCases completed_cases(launch::KeyValueStore& store);

/// Waits for the results of ranks 0 .. ranks-1 and merges them into one record: the samples of all
/// ranks, the wire bytes of the rank that sent most, and the checks, which hold if they hold on all
/// ranks.
records::RunRecord gather_results(launch::PrefixStore& store, int ranks);

/// Returns the check of the emulated link of the record's case, from the operations that all of its
/// ranks posted.
records::LinkCheck gather_link_check(launch::PrefixStore& store, const records::RunRecord& whole);

/// Returns the spans that ranks 0 .. ranks-1 posted, each moved to be `shift_ns` later.  Every
/// rank's spans are counted from the barrier before the warm-up.
std::vector<records::Span> gather_spans(launch::PrefixStore& store, int ranks,
                                        std::int64_t shift_ns);

}  // namespace paceline::rank
