// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/launch/key_value_store.h"
#include "paceline/records/run_record.h"

// The master of a case with tables on servers.  Its plan is empty: it starts the other ranks,
// sleeps while they train, and collects their results.

namespace paceline::rank {

/// The master's rank; nothing where the case has none.
std::optional<int> master_of(const records::Configuration& configuration);
bool is_master(const records::Configuration& configuration, int rank);

/// Returns on all `ranks` ranks of the case when the last of them has called it: where there is a
/// master, when it says so.
void start_together(const records::Configuration& configuration, int rank, int ranks,
                    launch::PrefixStore& store);

/// Tells the master, where there is one, that this rank's window has ended.
void tell_end_of_window(const records::Configuration& configuration, int rank,
                        launch::PrefixStore& store);

/// On the master: sleeps until all other ranks have told it.
void wait_for_windows(const records::Configuration& configuration, launch::PrefixStore& store);

/// On the master: merges the results of `ranks` ranks for rank 0.
void hand_over_results(launch::PrefixStore& store, int ranks);

/// On rank 0: the results of `ranks` ranks, merged by the master where there is one.
records::RunRecord take_results(const records::Configuration& configuration,
                                launch::PrefixStore& store, int ranks);

}  // namespace paceline::rank
