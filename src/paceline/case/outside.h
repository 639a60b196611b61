// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/case/case.h"
#include "paceline/case/check.h"
#include "paceline/case/machine.h"

namespace paceline::cases {

/// The strategy of cases that a program outside performs.
inline constexpr const char* kExternalStrategy = "external";

/// The framework of cases whose network is the user's own, which a strategy of Paceline trains in
/// Python: an adapter like others, but for its strategy.
inline constexpr const char* kOwnNetwork = "own-network";

/// Whether the model is the user's, MODULE:FACTORY.
bool has_own_network(const Case& c);

/// Whether a program outside performs the case: an adapter (`framework`) or the user's own
/// `command`.
bool is_outside(const Case& c);

/// What performs a case, as the user named it: the framework, "--command", or the strategy.
std::string performer_of(const Case& c);

/// Whether that program starts its ranks itself, as torchrun does.
bool starts_its_ranks(const Case& c);

/// Processes of Paceline that the case needs: one for each rank, or one where the program outside
/// starts its ranks itself.
int processes_of(const Case& c);

/// The status of a record of a case that has `not_run`: not-installed or unsupported.
std::string status_of_not_run(const Case& c);

/// Settles what follows from `framework` and `command`: strategy, launcher, engine, label, and why
/// the case cannot run here (`not_run`).  Throws UsageError, one sentence, for what contradicts
/// itself or is not known.
void settle_outside(Case& c, const MachineFacts& machine, const Where& where);

}  // namespace paceline::cases
