// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/launch/key_value_store.h"
#include "paceline/records/run_record.h"

// The master of a case with embedding tables on servers starts the other ranks, sleeps while they
// train, and collects their results.  The master's plan is empty.

namespace paceline::rank {

/// Returns the master's rank, or nothing if the case has no master.
std::optional<int> master_of(const cases::Case& configuration);
bool is_master(const cases::Case& configuration, int rank);

/// Returns on all `ranks` ranks of the case once the last of them has called it.  If there is a
/// master, it waits for the other ranks and then tells them to start.
void start_together(const cases::Case& configuration, int rank, int ranks,
                    launch::PrefixStore& store);

/// Tells the master, if there is one, that this rank's window has ended.
void tell_end_of_window(const cases::Case& configuration, int rank, launch::PrefixStore& store);

/// On the master: sleeps until the windows of all other ranks have ended.
void wait_for_windows(const cases::Case& configuration, launch::PrefixStore& store);

/// On the master: merges the results of `ranks` ranks for rank 0.
void hand_over_results(launch::PrefixStore& store, int ranks);

/// On rank 0: returns the results of `ranks` ranks, merged by the master if there is one.
records::RunRecord take_results(const cases::Case& configuration, launch::PrefixStore& store,
                                int ranks);

}  // namespace paceline::rank
