// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace paceline::launch {

/// The key-value store that the ranks of a job and their supervisor share. Calls may come from
/// several threads. Every call throws WorldError if the store cannot be reached.
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;
  virtual void set(const std::string& key, const std::string& value) = 0;
  /// Sets the value of a key that has none. Returns the value that the key has afterwards.
  virtual std::string set_if_absent(const std::string& key, const std::string& value) = 0;
  /// Returns the value of `key`, or nothing if it has none. Does not wait.
  virtual std::optional<std::string> get(const std::string& key) = 0;
};

/// A timeout that never ends: a hundred years.
inline constexpr std::chrono::milliseconds kNoTimeout = std::chrono::hours(24 * 365 * 100);

/// Waits until `key` has a value, and returns it; returns nothing after `timeout`. Calls `idle`
/// several times a second.
std::optional<std::string> wait_for(KeyValueStore& store, const std::string& key,
                                    std::chrono::milliseconds timeout,
                                    const std::function<void()>& idle = {});

/// Returns whether the store answers within `timeout`. A separate thread asks the store. It is left
/// behind if the process that serves the store is stopped, since its call does not return then.
bool answers(const std::shared_ptr<KeyValueStore>& store, std::chrono::milliseconds timeout);

class Heartbeat;

/// One rank's view of the keys of a store that begin with a prefix. Its waits have no timeout,
/// since another rank may compute for long. RankMonitor detects a rank that has failed, and the
/// case that all ranks wait.
class PrefixStore {
 public:
  /// `idle` is called several times a second during every wait; an exception that it throws ends
  /// the wait. `heartbeat` is that of this rank and must outlive this object. It is null if no
  /// RankMonitor watches the ranks.
  PrefixStore(std::shared_ptr<KeyValueStore> store, int rank, std::string prefix,
              Heartbeat* heartbeat = nullptr, std::function<void()> idle = {});

  void set(const std::string& key, const std::string& value);

  /// Waits until `key` has a value, and returns it.
  std::string wait(const std::string& key);

  /// Returns when ranks 0 .. count-1, which include this one, have called this function with the
  /// same name. The name must not have been used before.
  void barrier(const std::string& name, int count);

 private:
  std::shared_ptr<KeyValueStore> store_;
  int rank_;
  std::string prefix_;
  Heartbeat* heartbeat_;
  std::function<void()> idle_;
};

}  // namespace paceline::launch
