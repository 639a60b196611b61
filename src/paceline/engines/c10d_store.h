// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "paceline/launch/detect_launch.h"
#include "paceline/launch/key_value_store.h"

namespace paceline::engines {

using Milliseconds = std::chrono::milliseconds;

/// The c10d::Store that all ranks of a job share; its keys are this job's alone.  Engines connect
/// through it (engines/channel_spec.h).
struct C10dStore;

/// Opens the store at the launch's rendezvous; in a world of one, a store in this process.  Throws
/// UsageError for a port that is taken and for a file that cannot be used, WorldError where nothing
/// answers within `timeout`.
std::shared_ptr<C10dStore> open_store(const launch::Launch& launch, Milliseconds timeout);

/// The keys of `store` that begin with `prefix`.
std::shared_ptr<C10dStore> below(const C10dStore& store, const std::string& prefix);

/// The store's short texts, over a connection of its own: calls on one connection exclude each
/// other, and one that waits for a key would hold up the heartbeat.
std::shared_ptr<launch::KeyValueStore> key_value_store_of(std::shared_ptr<C10dStore> store);

/// As launch::OpenStore and launch::ServeStore.
std::shared_ptr<launch::KeyValueStore> open_key_value_store(const launch::Launch& launch,
                                                            Milliseconds timeout);
std::shared_ptr<launch::KeyValueStore> serve_key_value_store(const std::string& job, int listening,
                                                             std::uint16_t port);

}  // namespace paceline::engines
