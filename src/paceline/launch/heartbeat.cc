// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/heartbeat.h"

#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"

namespace paceline::launch {
namespace {

constexpr const char* kEndKey = "job_ends";

std::string progress_key(int rank) { return fmt::format("progress/{}", rank); }

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Progress, beats, wall_ms, step, operation, done, role, waited_ms)

std::string encode(const Progress& progress) {
  return nlohmann::json(progress).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<Progress> decode_progress(std::string_view text) {
  try {
    return nlohmann::json::parse(text).get<Progress>();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::string position_text(const Progress& progress) {
  if (progress.step == kNoSteps && !progress.operation.empty()) {
    return progress.operation;
  }
  const std::string step =
      progress.step < 0 ? "before its first step" : fmt::format("at step {}", progress.step);
  return progress.operation.empty() ? step : step + ", " + progress.operation;
}

std::string position_text(const std::optional<Progress>& progress) {
  return progress ? position_text(*progress) : "before it began";
}

std::string last_heartbeat_text(const std::optional<Progress>& progress) {
  if (!progress) {
    return " " + position_text(progress);
  }
  return fmt::format("; last heartbeat{} {}", progress->step == kNoSteps ? ":" : "",
                     position_text(*progress));
}

std::string role_of(const std::optional<Progress>& progress) {
  return progress ? progress->role : "";
}

std::optional<Progress> read_progress(KeyValueStore& store, int rank) {
  const auto text = store.get(progress_key(rank));
  return text ? decode_progress(*text) : std::nullopt;
}

void announce_end(KeyValueStore& store) { store.set(kEndKey, "1"); }

Heartbeat::Heartbeat(std::shared_ptr<KeyValueStore> store, int rank,
                     std::chrono::milliseconds interval)
    : store_(std::move(store)), rank_(rank), interval_(interval) {
  PACELINE_CHECK_EQ(pthread_getcpuclockid(main_, &main_clock_), 0);
}

std::chrono::nanoseconds Heartbeat::main_thread_time() const {
  timespec used{};
  clock_gettime(main_clock_, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

std::string Heartbeat::position() const {
  const std::lock_guard lock(mutex_);
  return position_text(progress_);
}

std::chrono::milliseconds Heartbeat::waited() const {
  const std::int64_t since = waiting_since_ns_;
  return since == 0 ? std::chrono::milliseconds(0)
                    : std::chrono::duration_cast<std::chrono::milliseconds>(
                          std::chrono::nanoseconds(steady_ns() - since));
}

std::string Heartbeat::awaited_key() const {
  const std::lock_guard lock(mutex_);
  return awaited_;
}

Heartbeat::Waiting::Waiting(Heartbeat& heartbeat, const std::string& key) : heartbeat_(heartbeat) {
  const std::lock_guard lock(heartbeat.mutex_);
  heartbeat.awaited_ = key;
  heartbeat.waiting_since_ns_ = steady_ns();
}

void Heartbeat::note_progress() {
  if (pthread_equal(pthread_self(), main_) != 0) {
    ++progress_count_;
  }
}

// Notes that the calling thread calls beat(). Returns whether as many threads as there are claims
// have now called it.
bool Heartbeat::all_claims_beat() {
  if (claims_ < 2) {
    return true;
  }
  const std::lock_guard lock(mutex_);
  beating_.insert(std::this_thread::get_id());
  const bool all = beating_.size() >= static_cast<std::size_t>(claims_);
  if (all) {
    beating_.clear();
  }
  return all;
}

// Whether a heartbeat is due. If several threads ask at the same time, only one gets true.
bool Heartbeat::is_heartbeat_due() {
  const auto now = steady_ns();
  auto next = next_ns_.load(std::memory_order_relaxed);
  return now >= next && next_ns_.compare_exchange_strong(next, now + interval_.count());
}

void Heartbeat::write() {
  using std::chrono::duration_cast;
  progress_.beats += 1;
  progress_.wall_ms =
      duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  progress_.waited_ms = waited().count();
  store_->set(progress_key(rank_), encode(progress_));
}

void Heartbeat::beat(std::int64_t step, std::string_view operation) {
  note_progress();
  if (all_claims_beat() && is_heartbeat_due()) {
    beat_now(step, operation);
    ended_ = store_->get(kEndKey).has_value();
  }
  if (ended_) {  // a thread of this rank has seen that the end of the job was announced
    throw PeerTimeout("another rank has failed");
  }
}

void Heartbeat::beat_now(std::int64_t step, std::string_view operation) {
  note_progress();
  const std::lock_guard lock(mutex_);
  progress_.step = step;
  progress_.operation = operation;
  write();
}

void Heartbeat::beat_unless_claimed() {
  if (claims_ > 0 || !is_heartbeat_due()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  write();
}

void Heartbeat::set_role(const std::string& role) {
  const std::lock_guard lock(mutex_);
  if (progress_.role != role) {
    progress_.role = role;
    write();
  }
}

std::string Heartbeat::role() const {
  const std::lock_guard lock(mutex_);
  return progress_.role;
}

void Heartbeat::finish() {
  const std::lock_guard lock(mutex_);
  progress_.done = true;
  write();
}

}  // namespace paceline::launch
