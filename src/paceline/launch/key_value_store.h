// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace paceline::launch {

/// The key-value store that the ranks of a job and their supervisor share. Calls may come from
/// several threads.  Every call throws WorldError where the store cannot be reached.
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;
  virtual void set(const std::string& key, const std::string& value) = 0;
  /// Sets the value of a key that has none.  Returns the key's value.
  virtual std::string set_if_absent(const std::string& key, const std::string& value) = 0;
  /// The value of `key`; nothing where the key has none.  Does not wait.
  virtual std::optional<std::string> get(const std::string& key) = 0;
};

/// A hundred years.
inline constexpr std::chrono::milliseconds kNoTimeout = std::chrono::hours(24 * 365 * 100);

/// Waits until `key` has a value, and returns it; nothing after `timeout`. Calls `idle` several
/// times a second.
std::optional<std::string> wait_for(KeyValueStore& store, const std::string& key,
                                    std::chrono::milliseconds timeout,
                                    const std::function<void()>& idle = {});

/// Whether the store answers within `timeout`.  A call to a store whose server is stopped does not
/// return: the thread that asks is left behind then.
bool answers(const std::shared_ptr<KeyValueStore>& store, std::chrono::milliseconds timeout);

class Heartbeat;

/// The keys of a store that begin with a prefix, as one rank uses them.  Its waits have no limit of
/// their own, since another rank may compute for long: RankMonitor finds a rank that has failed,
/// and ranks that all wait.
class PrefixStore {
 public:
  /// `idle` is called several times a second during every wait.  An exception
  /// that it throws ends the wait.  `heartbeat`, of this rank, outlives the store; null where no
  /// RankMonitor watches the ranks.
  PrefixStore(std::shared_ptr<KeyValueStore> store, int rank, std::string prefix,
              Heartbeat* heartbeat = nullptr, std::function<void()> idle = {});

  void set(const std::string& key, const std::string& value);

  /// Waits until `key` has a value, and returns it.
  std::string wait(const std::string& key);

  /// Returns when ranks 0 .. count-1, of which this is one, have called it with the same name,
  /// which is new.
  void barrier(const std::string& name, int count);

 private:
  std::shared_ptr<KeyValueStore> store_;
  int rank_;
  std::string prefix_;
  Heartbeat* heartbeat_;
  std::function<void()> idle_;
};

}  // namespace paceline::launch
