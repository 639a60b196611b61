// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "paceline/base/error.h"

namespace paceline::engines {

enum class FailureKind {
  kPeerLost,  // a connection broke: the cause lies in another process
  kTimeout,   // no answer came in time: the cause usually lies in another process, too
  kOther      // every other failure
};

/// Classifies the text of an engine's or a store's exception, because their exceptions have no
/// types of their own.
FailureKind classify_failure(std::string_view text);

/// Returns "all-reduce, 9.4 MB: connection to a peer lost (connection reset by peer)".  Texts of
/// UsageError pass unchanged; texts of WorldError lose the engine's source file locations and
/// Gloo's debugging advice.
std::string describe_failure(const std::exception& error, std::string_view operation);

/// Rethrows the current exception as WorldError; must be called in a catch block. UsageError passes
/// unchanged.
[[noreturn]] void rethrow_as_world_error(std::string_view operation);

}  // namespace paceline::engines
