// SPDX-License-Identifier: Apache-2.0
#include "paceline/bench/bulletin.h"

#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"

namespace paceline::bench {

Bulletin::Bulletin(c10::intrusive_ptr<c10d::Store> store,
                   std::string prefix,
                   std::function<void(const std::string&)> idle)
    : store_(std::move(store)),
      prefix_(std::move(prefix)),
      idle_(std::move(idle)) {}

void Bulletin::post(const std::string& key, const std::string& text) {
  store_->set(prefix_ + key,
              std::vector<std::uint8_t>(text.begin(), text.end()));
}

std::string Bulletin::read(const std::string& key,
                           std::chrono::milliseconds patience) {
  wait_for(key, patience);
  const std::vector<std::uint8_t> bytes = store_->get(prefix_ + key);
  return {bytes.begin(), bytes.end()};
}

void Bulletin::line_up(const std::string& name,
                       int count,
                       std::chrono::milliseconds patience) {
  if (store_->add(prefix_ + name + "/arrived", 1) == count) {
    post(name + "/go", "1");
  }
  wait_for(name + "/go", patience);
}

void Bulletin::wait_for(const std::string& key,
                        std::chrono::milliseconds patience) {
  const std::int64_t began = steady_ns();
  // Short at first, so that ranks that line up start together.
  std::chrono::milliseconds pause(1);
  while (!store_->check({prefix_ + key})) {
    if (idle_) {
      idle_(key);
    }
    const std::chrono::nanoseconds waited(steady_ns() - began);
    if (patience.count() > 0 && waited > patience) {
      throw WorldError(
          fmt::format("waited {:.0f} s for '{}' from the other ranks, in vain",
                      std::chrono::duration<double>(waited).count(),
                      key));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(100));
  }
}

}  // namespace paceline::bench
