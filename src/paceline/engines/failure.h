// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "paceline/base/error.h"

namespace paceline::engines {

enum class FailureKind {
  kPeerLost,  // a connection broke: the cause lies in another process
  kTimeout,   // nobody answered in time: as a rule another process, too
  kOwn        // everything else
};

/// What an engine's or a store's exception text means.  Their exceptions have no types of their
/// own, only sentences.
FailureKind classify_failure(std::string_view text);

/// "all-reduce, 9.4 MB: connection to a peer lost (connection reset by peer)". Texts of WorldError
/// and UsageError pass unchanged, without the places in an engine's source files and Gloo's advice
/// to debug it.
std::string describe_failure(const std::exception& error, std::string_view operation);

/// The exception in flight as WorldError; to be called in a catch block. UsageError passes
/// unchanged.
[[noreturn]] void rethrow_as_world_error(std::string_view operation);

}  // namespace paceline::engines
