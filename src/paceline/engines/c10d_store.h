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

/// The c10d::Store that all ranks of a job share; no other job uses its keys.  Engines connect
/// through it (engines/channel_spec.h).
struct C10dStore;

/// Opens the store at the launch's rendezvous, or in a world of one a store in this process.
/// Throws UsageError if a port is taken or a file cannot be used, WorldError if nothing answers
/// within `timeout`.
std::shared_ptr<C10dStore> open_store(const launch::Launch& launch, Milliseconds timeout);

/// Returns a view of `store` that puts `prefix` before every key.
std::shared_ptr<C10dStore> with_prefix(const C10dStore& store, const std::string& prefix);

/// Returns the store's key-value interface, over a separate connection: calls on one connection
/// exclude each other, so a call that waits for a key would delay the heartbeat.
std::shared_ptr<launch::KeyValueStore> key_value_store_of(std::shared_ptr<C10dStore> store);

/// The implementations of launch::OpenStore and launch::ServeStore over c10d's store.
std::shared_ptr<launch::KeyValueStore> open_key_value_store(const launch::Launch& launch,
                                                            Milliseconds timeout);
std::shared_ptr<launch::KeyValueStore> serve_key_value_store(const std::string& job, int listening,
                                                             std::uint16_t port);

}  // namespace paceline::engines
