// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/key_value_store.h"

#include <algorithm>
#include <future>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/launch/heartbeat.h"

namespace paceline::launch {

std::optional<std::string> wait_for(KeyValueStore& store, const std::string& key,
                                    std::chrono::milliseconds timeout,
                                    const std::function<void()>& idle) {
  const Stopwatch watch;
  // The pause is short at first, so that ranks leave a barrier together.
  std::chrono::milliseconds pause(1);
  while (true) {
    if (auto value = store.get(key)) {
      return value;
    }
    if (idle) {
      idle();
    }
    if (watch.elapsed() > timeout) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(100));
  }
}

bool answers(const std::shared_ptr<KeyValueStore>& store, std::chrono::milliseconds timeout) {
  const auto answer = std::make_shared<std::promise<bool>>();
  auto end = answer->get_future();
  std::thread([store, answer] {
    try {
      store->get("answers");
      answer->set_value(true);
    } catch (const std::exception&) {
      answer->set_value(false);
    }
  }).detach();
  return end.wait_for(timeout) == std::future_status::ready && end.get();
}

PrefixStore::PrefixStore(std::shared_ptr<KeyValueStore> store, int rank, std::string prefix,
                         Heartbeat* heartbeat, std::function<void()> idle)
    : store_(std::move(store)),
      rank_(rank),
      prefix_(std::move(prefix)),
      heartbeat_(heartbeat),
      idle_(std::move(idle)) {}

void PrefixStore::set(const std::string& key, const std::string& value) {
  store_->set(prefix_ + key, value);
}

std::string PrefixStore::wait(const std::string& key) {
  std::optional<Heartbeat::Waiting> waiting;
  if (heartbeat_ != nullptr) {
    waiting.emplace(*heartbeat_, prefix_ + key);
  }
  return *wait_for(*store_, prefix_ + key, kNoTimeout, idle_);
}

void PrefixStore::barrier(const std::string& name, int count) {
  const auto key = [&](int rank) { return fmt::format("{}/arrived/{}", name, rank); };
  set(key(rank_), "1");
  for (int rank = 0; rank < count; ++rank) {
    wait(key(rank));
  }
}

}  // namespace paceline::launch
