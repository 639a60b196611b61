// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "paceline/base/delayed_call.h"

namespace paceline::rank {

/// How a rank reports the progress of its work on stderr.
enum class Progress : std::uint8_t {
  kNothing,
  kLine,  // one line that is overwritten: for a terminal
  kLines  // a line now and then: for a file
};

/// Returns how to report progress: only rank 0 does.
inline Progress progress_mode_of(bool rank_0, bool terminal) {
  return !rank_0 ? Progress::kNothing : terminal ? Progress::kLine : Progress::kLines;
}

/// Shows on stderr what this rank is doing.
class ProgressLine {
 public:
  /// With kLines, a thread prints the text if it has changed: first after `every`, and then at most
  /// once in `every`.
  explicit ProgressLine(Progress how, std::chrono::milliseconds every = kNoticeDelay,
                        std::FILE* to = stderr)
      : how_(how), every_(every), to_(to) {
    if (how == Progress::kLines) {
      thread_.emplace([this](const std::stop_token& stop) { print(stop); });
    }
  }
  ~ProgressLine() {
    thread_.reset();
    clear();
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text) {
    if (how_ == Progress::kNothing) {
      return;
    }
    const std::lock_guard lock(mutex_);
    text_ = text;
    changed_.notify_one();
    if (how_ == Progress::kLine) {
      std::fprintf(to_, "\r%s\033[K", text.c_str());
      std::fflush(to_);
      line_is_shown_ = true;
    }
  }

  /// Called when the work is done: erases the line on a terminal.
  void clear() {
    const std::lock_guard lock(mutex_);
    text_.clear();
    if (line_is_shown_) {
      std::fputs("\r\033[K", to_);
      std::fflush(to_);
      line_is_shown_ = false;
    }
  }

 private:
  void print(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    std::string printed;
    for (;;) {
      changed_.wait_for(lock, stop, every_, [] { return false; });
      if (!changed_.wait(lock, stop, [&] { return !text_.empty() && text_ != printed; }) ||
          stop.stop_requested()) {
        return;
      }
      std::fprintf(to_, "%s\n", text_.c_str());
      std::fflush(to_);
      printed = text_;
    }
  }

  Progress how_;
  std::chrono::milliseconds every_;
  std::FILE* to_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string text_;            // what the rank is doing; empty: nothing to show
  bool line_is_shown_ = false;  // whether the terminal shows a line
  std::optional<std::jthread> thread_;
};

}  // namespace paceline::rank
