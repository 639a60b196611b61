// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/bulletin.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"

namespace paceline::measure {

Bulletin::Bulletin(const engines::World& world,
                   std::string prefix,
                   std::function<void(const std::string&)> idle)
    : board_(world.board),
      rank_(world.place.rank),
      prefix_(std::move(prefix)),
      idle_(std::move(idle)) {}

void Bulletin::post(const std::string& key, const std::string& text) {
  board_->post(prefix_ + key, text);
}

void Bulletin::line_up(const std::string& name,
                       int count,
                       std::chrono::milliseconds patience) {
  post(fmt::format("{}/arrived/{}", name, rank_), "1");
  for (int rank = 0; rank < count; ++rank) {
    read(fmt::format("{}/arrived/{}", name, rank), patience);
  }
}

std::string Bulletin::read(const std::string& key,
                           std::chrono::milliseconds patience) {
  const std::int64_t began = steady_ns();
  // Short at first, so that ranks that line up start together.
  std::chrono::milliseconds pause(1);
  while (true) {
    if (auto text = board_->read(prefix_ + key)) {
      return *std::move(text);
    }
    if (idle_) {
      idle_("the other ranks");
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

}  // namespace paceline::measure
