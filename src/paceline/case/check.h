// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/case/machine.h"
#include "paceline/case/raw_settings.h"

namespace paceline::cases {

/// Origin of a key's value, for messages: "--ranks", "quick.toml:7: ranks".
using Where = std::function<std::string(std::string_view key)>;

/// What "auto" means here.
std::string resolve_device(const std::string& device, const MachineFacts& machine);
std::string resolve_engine(const std::string& engine, const std::string& device,
                           const MachineFacts& machine);

/// "'mpi' was not built in; there is gloo", and how to get it where that is known.
std::string not_built_in(const std::string& engine, const MachineFacts& machine);

/// The strategy's canonical text, by which cases are told apart.  Throws UsageError for what the
/// strategy tables do not know or the rules forbid.
std::string canonical_strategy(const Case& configuration, const Where& where);

/// Throws UsageError, which begins with `origin`, where a step of `model` has a number of samples
/// of its own.
void check_batch(const std::string& model, const std::string& origin);

/// Gives a case of a model with embedding tables the ranks that its trainers, servers and master
/// are.  Throws UsageError where `ranks` asks for another number, where the case asks for what such
/// models cannot do, and where a model without tables is given some.
void check_tables(Case& configuration, const MachineFacts& machine, const Where& where);

/// `ranks` on hosts of `local` each.  Throws UsageError, which begins with
/// `origin`, where they do not fill such hosts.
std::vector<int> equal_hosts(int ranks, int local, const std::string& origin);

/// Settles how many ranks each host has: as the case says, where one number is that of every host;
/// else as the ranks were started, and nothing where all are on one.  Throws UsageError where they
/// do not fill such hosts.
void place_ranks(Case& configuration, const MachineFacts& machine, const Where& where);

/// Throws UsageError where the strategy, which is canonical, does not exist for so many ranks.
/// Where it wants hosts with equally many, and the case does not say how ranks are `placed`, the
/// case leaves a row that says so instead.
void check_hosts(Case& configuration, bool placed, const Where& where);

/// Throws UsageError, one sentence, where the case cannot run on `machine`: unknown model, no such
/// device or engine, more ranks than there can be, a number type that the CPU lacks, values that
/// contradict each other.
void check_case(const Case& configuration, const MachineFacts& machine, const Where& where);

/// Gives a case that trains on --data the image size and classes of the data. Throws UsageError for
/// unknown data and for what does not fit them.
void take_data(Case& configuration, const Where& where);

/// Throws UsageError where the block of an experiment that has a replay asks for a GPU, or for an
/// engine that moves no bytes of the CPU, by name.
void check_replay(const RawValues& block);

/// The profile's network, batch and element type take the place of those that were named; device
/// and engine are those of ranks that sleep.
void take_network_of_profile(Case& configuration);

/// Which numbers of steps somebody has chosen.
struct GivenSteps {
  bool warmup = false;
  bool measured = false;
};

/// Rounds the warm-up and the measured steps that nobody has chosen up to whole periods of the
/// case: its strategy, and its averages of statistics.  A window of fewer steps may lack an
/// exchange that comes every H-th step, or hold one too many.
void take_whole_periods(Case& configuration, const GivenSteps& given);

/// Beyond this the ranks of a host only wait for each other's time slices.
inline constexpr int kMostRanksPerCore = 32;

/// Throws UsageError where `cores` cores of this host are too few for `ranks` ranks, which `origin`
/// asks for: "--ranks", "--hosts localhost:2000".
void check_ranks_here(const std::string& origin, int ranks, int cores);

/// The case's link as its record names it, without blanks; empty for none. Throws UsageError.
std::string canonical_link(const Case& configuration, const Where& where);

/// Throws UsageError where link, replay, stretch and the learning rate do not fit the rest of the
/// case, whose strategy is canonical.
void check_instruments(const Case& configuration, const Where& where);

}  // namespace paceline::cases
