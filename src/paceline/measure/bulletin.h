// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "paceline/engines/world.h"
#include "paceline/launch/board.h"

namespace paceline::measure {

/// Where ranks leave each other notes: the world's board, with waits that beat
/// the heart, look for a stop request and end at a deadline.
class Bulletin {
 public:
  /// `idle` is called several times a second during every wait; it may throw.
  Bulletin(const engines::World& world,
           std::string prefix,
           std::function<void(const std::string& waiting_for)> idle);

  void post(const std::string& key, const std::string& text);

  /// Blocks until `key` is posted.  Throws WorldError after `patience`; zero
  /// means without end (somebody else watches over the ranks).
  std::string read(const std::string& key, std::chrono::milliseconds patience);

  /// Returns when ranks 0 .. count-1, of which this is one, have called it with
  /// the same name; `patience` is for each of them.
  void line_up(const std::string& name,
               int count,
               std::chrono::milliseconds patience);

 private:
  std::shared_ptr<launch::Board> board_;
  int rank_;
  std::string prefix_;
  std::function<void(const std::string&)> idle_;
};

}  // namespace paceline::measure
