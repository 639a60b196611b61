// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/case/case.h"
#include "paceline/case/machine.h"
#include "paceline/case/raw_settings.h"

namespace paceline::cases {

/// Returns where a key's value was written, for messages: "--ranks", "quick.toml:7: ranks".
struct Where : std::function<std::string(std::string_view key)> {
  using function::function;

  /// Throws UsageError: where the value of `key` was written, and why it is rejected.
  template <class... Values>
  [[noreturn]] void reject(std::string_view key, fmt::format_string<Values...> why,
                           Values&&... values) const {
    throw UsageError(
        fmt::format("{}: {}", (*this)(key), fmt::format(why, std::forward<Values>(values)...)));
  }

  template <class... Values>
  void reject_if(bool wrong, std::string_view key, fmt::format_string<Values...> why,
                 Values&&... values) const {
    if (wrong) {
      reject(key, why, std::forward<Values>(values)...);
    }
  }
};

/// These functions replace "auto" by the device or engine for this machine, and return any other
/// name unchanged.
std::string resolve_device(const std::string& device, const MachineFacts& machine);
std::string resolve_engine(const std::string& engine, const std::string& device,
                           const MachineFacts& machine);

/// The strategy's canonical text, which is part of the key of a case. Throws UsageError for names
/// that the strategy tables do not have, and for combinations that the rules forbid.
std::string canonical_strategy(const Case& configuration, const Where& where);

/// Throws UsageError, which begins with `origin`, if the batch size of `model` cannot be chosen
/// because the model itself determines the number of samples of each step (hybrid).
void check_batch(const std::string& model, const std::string& origin);

/// Sets `ranks` of a case with embedding tables to the number of its trainers, servers and master.
/// Throws UsageError if the user asked for another number of ranks, if the case asks for something
/// that such models cannot do, and if settings of embedding tables are given for a model without
/// them.
void check_tables(Case& configuration, const MachineFacts& machine, const Where& where);

/// Divides `ranks` into hosts of `local` ranks each. Throws UsageError, which begins with `origin`,
/// if `ranks` is not a multiple of `local`.
std::vector<int> equal_hosts(int ranks, int local, const std::string& origin);

/// Sets how many ranks each host has. A single number in the case is the number for every host. If
/// the case gives none, the ranks are placed as they were started, and the list stays empty if all
/// of them are on one host. Throws UsageError if the ranks do not fill the hosts.
void place_ranks(Case& configuration, const MachineFacts& machine, const Where& where);

/// Throws UsageError if the strategy, which must be canonical, cannot run with this number of
/// ranks. If the hosts have unequal numbers of ranks, and the user did not choose these numbers
/// (`placed`), sets `not_run` instead of throwing.
void check_hosts(Case& configuration, bool placed, const Where& where);

/// Throws UsageError if `machine` has no such device or engine, or if engine, link or number type
/// do not fit the device.
void check_device(const Case& configuration, const MachineFacts& machine, const Where& where);

/// Throws UsageError, one sentence, if the case cannot run on `machine`: for an unknown model, a
/// missing device or engine, too many ranks, a number type that the CPU does not support, or values
/// that contradict each other.
void check_case(const Case& configuration, const MachineFacts& machine, const Where& where);

/// Sets the image size and the number of classes of a case to those of its data set (--data).
/// Throws UsageError for an unknown data set, and for settings that do not fit it.
void apply_data_set(Case& configuration, const Where& where);

/// Throws UsageError if `block` sets `replay` and explicitly asks for a GPU, or for an engine that
/// cannot communicate CPU memory.
void check_replay(const RawValues& block);

/// Replaces network, batch size and element type of the case by those of its profile, and device
/// and engine by ones for ranks that sleep on the CPU. Throws UsageError, which begins with
/// `where`, for a profile with 8-bit gradients, which no engine sums.
void apply_profile(const std::string& where, Case& configuration);

/// Which of the two numbers of steps the user has set explicitly.
struct UserSetSteps {
  bool warmup = false;
  bool measured = false;
};

/// Rounds the numbers of warm-up and measured steps that the user has not set up to multiples of
/// the period of the case. The period is that of the strategy and of the averages of BatchNorm
/// statistics. Other numbers of steps could miss an exchange that happens every H-th step, or have
/// one too many.
void round_steps_to_periods(Case& configuration, const UserSetSteps& given);

/// The largest allowed number of ranks per core. With more ranks, they mostly wait for CPU time.
inline constexpr int kMostRanksPerCore = 32;

/// Throws UsageError if `ranks` ranks are too many for `cores` cores of this host. `origin` names
/// where `ranks` was written: "--ranks", "--hosts localhost:2000".
void check_ranks_here(const std::string& origin, int ranks, int cores);

/// The case's link without blanks, as records contain it; empty for no link. Throws UsageError if
/// the link cannot be parsed.
std::string canonical_link(const Case& configuration, const Where& where);

/// Throws UsageError if link, replay, stretch, learning rate, gradient clipping or the averaging of
/// buffers contradict the rest of the case. The strategy of the case must be canonical.
void check_option_combinations(const Case& configuration, const Where& where);

}  // namespace paceline::cases
