// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/heartbeat.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/clock.h"

namespace paceline::launch {
namespace {

std::string progress_key(int rank) {
  return fmt::format("progress/{}", rank);
}

}  // namespace

std::string encode(const Progress& progress) {
  return nlohmann::json{progress.beats,
                        progress.wall_ms,
                        progress.step,
                        progress.operation,
                        progress.done}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<Progress> decode_progress(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_array() || json.size() != 5 || !json[0].is_number_integer() ||
      !json[1].is_number_integer() || !json[2].is_number_integer() ||
      !json[3].is_string() || !json[4].is_boolean()) {
    return std::nullopt;
  }
  return Progress{json[0], json[1], json[2], json[3], json[4]};
}

std::string whereabouts(const Progress& progress) {
  if (progress.step == kNoSteps && !progress.operation.empty()) {
    return progress.operation;
  }
  const std::string step = progress.step < 0
                               ? "before its first step"
                               : fmt::format("at step {}", progress.step);
  return progress.operation.empty() ? step : step + ", " + progress.operation;
}

std::optional<Progress> read_progress(Board& board, int rank) {
  const auto text = board.read(progress_key(rank));
  return text ? decode_progress(*text) : std::nullopt;
}

Heartbeat::Heartbeat(std::shared_ptr<Board> board,
                     int rank,
                     std::chrono::milliseconds interval)
    : board_(std::move(board)), rank_(rank), interval_(interval) {}

// One of the threads that ask at the same time gets the beat.
bool Heartbeat::due() {
  const auto now = steady_ns();
  auto next = next_ns_.load(std::memory_order_relaxed);
  return now >= next &&
         next_ns_.compare_exchange_strong(next, now + interval_.count());
}

void Heartbeat::post() {
  using std::chrono::duration_cast;
  progress_.beats += 1;
  progress_.wall_ms = duration_cast<std::chrono::milliseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  board_->post(progress_key(rank_), encode(progress_));
}

void Heartbeat::beat(std::int64_t step, std::string_view operation) {
  if (!due()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  progress_.step = step;
  progress_.operation = operation;
  post();
}

void Heartbeat::arrive(std::int64_t step, std::string_view operation) {
  const std::lock_guard lock(mutex_);
  progress_.step = step;
  progress_.operation = operation;
  post();
}

void Heartbeat::beat_unless_claimed() {
  if (claims_ > 0 || !due()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  post();
}

void Heartbeat::finish() {
  const std::lock_guard lock(mutex_);
  progress_.done = true;
  post();
}

}  // namespace paceline::launch
