// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/launch/key_value_store.h"
#include "paceline/measure/case_run.h"

namespace paceline::measure {

/// Leaves a rank's result on its case's store.  Where ranks of a case sit on
/// several hosts (`one_clock` false), times are counted from the line-up.
void post_result(launch::PrefixStore& store,
                 int rank,
                 const RankResult& result,
                 bool one_clock);

/// What ranks 0 .. ranks-1 posted, as one record: the samples of all, the
/// bytes of the busiest, checks that hold if they hold everywhere.  Waits for
/// them.
records::RunRecord gather_results(launch::PrefixStore& store, int ranks);

/// What the same ranks posted of a case behind a modelled link.
records::LinkCheck gather_link_check(
    launch::PrefixStore& store, const records::Configuration& configuration);

/// The spans of the same ranks, `shift_ns` later: every rank's clock is set
/// by the moment at which the case lined up.
std::vector<records::Span> gather_spans(launch::PrefixStore& store,
                                        int ranks,
                                        std::int64_t shift_ns);

}  // namespace paceline::measure
