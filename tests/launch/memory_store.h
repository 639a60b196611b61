// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "paceline/base/error.h"
#include "paceline/launch/key_value_store.h"

namespace paceline::testing {

/// A key-value store within one process.
class MemoryStore final : public launch::KeyValueStore {
 public:
  void set(const std::string& key, const std::string& value) override {
    std::unique_lock lock(mutex_);
    answering_.wait(lock, [this] { return !silent_; });
    check();
    values_[key] = value;
    ++writes_;
  }
  std::string set_if_absent(const std::string& key, const std::string& value) override {
    std::unique_lock lock(mutex_);
    answering_.wait(lock, [this] { return !silent_; });
    check();
    return values_.try_emplace(key, value).first->second;
  }
  std::optional<std::string> get(const std::string& key) override {
    std::unique_lock lock(mutex_);
    answering_.wait(lock, [this] { return !silent_; });
    check();
    const auto it = values_.find(key);
    return it == values_.end() ? std::nullopt : std::optional(it->second);
  }

  int writes() const {
    const std::lock_guard lock(mutex_);
    return writes_;
  }
  void vanish() {
    const std::lock_guard lock(mutex_);
    gone_ = true;
  }
  /// Whoever asks from now on waits; `answer` answers them all.
  void stop_answering() {
    const std::lock_guard lock(mutex_);
    silent_ = true;
  }
  void answer() {
    const std::lock_guard lock(mutex_);
    silent_ = false;
    answering_.notify_all();
  }

 private:
  void check() const {
    if (gone_) {
      throw WorldError("the store is gone");
    }
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::string> values_;
  int writes_ = 0;
  std::condition_variable answering_;
  bool gone_ = false;
  bool silent_ = false;
};

}  // namespace paceline::testing
