// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/key_value_store.h"

#include <algorithm>
#include <future>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/launch/heartbeat.h"

namespace paceline::launch {

std::optional<std::string> wait_for(KeyValueStore& store,
                                    const std::string& key,
                                    std::chrono::milliseconds timeout,
                                    const std::function<void()>& idle) {
  const Stopwatch<> watch;
  // Short at first, so that ranks leave a barrier together.
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

bool answers(const std::shared_ptr<KeyValueStore>& store,
             std::chrono::milliseconds timeout) {
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

PrefixStore::PrefixStore(std::shared_ptr<KeyValueStore> store,
                         int rank,
                         std::string prefix,
                         std::function<void()> idle)
    : store_(std::move(store)),
      rank_(rank),
      prefix_(std::move(prefix)),
      idle_(std::move(idle)) {}

void PrefixStore::set(const std::string& key, const std::string& value) {
  store_->set(prefix_ + key, value);
}

std::string PrefixStore::wait(const std::string& key,
                              std::chrono::milliseconds timeout) {
  if (auto value = wait_for(*store_, prefix_ + key, timeout, idle_)) {
    return *std::move(value);
  }
  throw PeerTimeout(
      fmt::format("no answer from a peer within {:g} s: no rank has set '{}'",
                  std::chrono::duration<double>(timeout).count(),
                  key));
}

void PrefixStore::barrier(const std::string& name,
                          int count,
                          std::chrono::milliseconds timeout) {
  set(fmt::format("{}/arrived/{}", name, rank_), "1");
  for (int rank = 0; rank < count; ++rank) {
    const auto arrived =
        wait_for(*store_,
                 fmt::format("{}{}/arrived/{}", prefix_, name, rank),
                 timeout,
                 idle_);
    if (!arrived) {
      throw PeerTimeout(
          fmt::format("rank {} has not come to the barrier '{}' within {:g} s; "
                      "it was {}",
                      rank,
                      name,
                      std::chrono::duration<double>(timeout).count(),
                      position_text(read_progress(*store_, rank))));
    }
  }
}

}  // namespace paceline::launch
