// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/case/case.h"
#include "paceline/case/check.h"
#include "paceline/case/machine.h"

namespace paceline::cases {

/// The value of `strategy` in cases that an external program runs; such a program synchronizes its
/// gradients itself.
inline constexpr const char* kExternalStrategy = "external";

/// The framework of cases in which a strategy of Paceline trains the user's own network in Python.
/// It is an adapter like others, except that the case keeps its strategy.
inline constexpr const char* kOwnNetwork = "own-network";

/// Whether the model is the user's own, given as MODULE:FACTORY.
bool has_own_network(const Case& c);

/// Whether an external program runs the case instead of Paceline: an adapter (`framework`) or the
/// user's `command`.
bool runs_external_program(const Case& c);

/// Returns the name of what runs the case, for messages: the framework, "--command", or the
/// strategy if Paceline itself runs it.
std::string runner_name_of(const Case& c);

/// Whether the external program starts its ranks itself, as torchrun does.
bool starts_its_ranks(const Case& c);

/// The number of Paceline processes that the case needs: one for each rank, or a single one if the
/// external program starts its ranks itself.
int processes_of(const Case& c);

/// The status in the record of a case that has `not_run`: "not-installed" or "unsupported".
std::string status_of_not_run(const Case& c);

/// Sets what follows from `framework` and `command`: strategy, launcher, engine, label, and the
/// reason why the case cannot run here (`not_run`). The adapter must exist. Throws UsageError, one
/// sentence, for values that contradict each other.
void resolve_program(Case& c, const MachineFacts& machine, const Where& where);

/// Throws UsageError if `framework` names no adapter.
void check_adapter(const Case& c, const MachineFacts& machine, const Where& where);

}  // namespace paceline::cases
