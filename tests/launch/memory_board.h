// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "paceline/base/error.h"
#include "paceline/launch/board.h"

namespace paceline::testing {

/// A board within one process.
class MemoryBoard final : public launch::Board {
 public:
  void post(const std::string& key, const std::string& text) override {
    std::unique_lock lock(mutex_);
    spoken_.wait(lock, [this] { return !mute_; });
    check();
    texts_[key] = text;
    ++posts_;
  }
  std::string post_first(const std::string& key,
                         const std::string& text) override {
    std::unique_lock lock(mutex_);
    spoken_.wait(lock, [this] { return !mute_; });
    check();
    return texts_.try_emplace(key, text).first->second;
  }
  std::optional<std::string> read(const std::string& key) override {
    std::unique_lock lock(mutex_);
    spoken_.wait(lock, [this] { return !mute_; });
    check();
    const auto it = texts_.find(key);
    return it == texts_.end() ? std::nullopt : std::optional(it->second);
  }

  int posts() const {
    const std::lock_guard lock(mutex_);
    return posts_;
  }
  void vanish() {
    const std::lock_guard lock(mutex_);
    gone_ = true;
  }
  /// Whoever asks from now on waits; `speak` answers them all.
  void hush() {
    const std::lock_guard lock(mutex_);
    mute_ = true;
  }
  void speak() {
    const std::lock_guard lock(mutex_);
    mute_ = false;
    spoken_.notify_all();
  }

 private:
  void check() const {
    if (gone_) {
      throw WorldError("the board is gone");
    }
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::string> texts_;
  int posts_ = 0;
  std::condition_variable spoken_;
  bool gone_ = false;
  bool mute_ = false;
};

}  // namespace paceline::testing
