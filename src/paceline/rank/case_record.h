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

/// Sets a rank's part of the case's record in the case's store: samples, warnings and what an
/// adapter said of itself, or an error.
void post_part(launch::PrefixStore& store, int rank, const records::RunRecord& part);

/// The same of a case that Paceline performs, with what crossed its emulated link and its spans.
/// Where the ranks are on several hosts (`one_clock` false), times are counted from the barrier
/// before the warm-up.
void post_result(launch::PrefixStore& store, int rank, const RankResult& result, bool one_clock);

/// Sets this rank's samples of a case that fails.
void post_so_far(launch::KeyValueStore& store, records::RankSamples samples);

/// Sets what rank 0 has found around the ranks, for what the ranks do not end.
void post_environment(launch::KeyValueStore& store, const records::Environment& environment);

records::Environment posted_environment(launch::KeyValueStore& store);

/// The same of the rate of the line around operations; 0 where none is set.
void post_line(launch::KeyValueStore& store, double bytes_per_s);
double posted_line(launch::KeyValueStore& store);

/// What there is of a case that failed.
struct PartialSamples {
  records::Environment environment;
  std::vector<records::RankSamples> ranks;
};

/// What such ranks have set, cut to the steps that all of them ended; lookups are those of each
/// rank's own steps.
PartialSamples gather_so_far(launch::KeyValueStore& store, int ranks);

/// Where the samples of such a case come from.
records::Source source_of(const records::Configuration& configuration);

/// The record of a case that failed.
records::RunRecord failed_record(const std::string& experiment,
                                 const records::Configuration& configuration, int run,
                                 const std::string& why, PartialSamples so_far);

/// The store's key under which rank 0 sets the key of each case that it begins.
inline constexpr const char* kCurrentCaseKey = "case";

/// Hands a record over to the front, the `index`-th of a repetition from 0, as a line of the record
/// file.
void post_finished(launch::KeyValueStore& store, int run, std::size_t index,
                   const std::string& line);

/// That line, where it has been handed over.
std::optional<std::string> finished_line(launch::KeyValueStore& store, int run, std::size_t index);

/// Tells the ranks which cases the front has already, and what it told.
void post_completed(launch::KeyValueStore& store, const CompletedCases& completed);
CompletedCases completed_cases(launch::KeyValueStore& store);

/// Waits for the results of ranks 0 .. ranks-1 and merges them into one record: the samples of all
/// ranks, the wire bytes of the rank that sent most, and the checks, which hold if they hold on all
/// ranks.
records::RunRecord gather_results(launch::PrefixStore& store, int ranks);

/// The check of the emulated link, from the results of the same ranks.
/// `samples` are theirs.
records::LinkCheck gather_link_check(launch::PrefixStore& store,
                                     const records::Configuration& configuration,
                                     const std::vector<records::RankSamples>& samples);

/// The spans of the same ranks, each `shift_ns` later.  Every rank's spans are counted from the
/// barrier before the warm-up.
std::vector<records::Span> gather_spans(launch::PrefixStore& store, int ranks,
                                        std::int64_t shift_ns);

}  // namespace paceline::rank
