// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace paceline::bench {

/// Where ranks leave each other notes: the job's store, with waits that beat
/// the heart, look for a stop request and end at a deadline.
class Bulletin {
 public:
  /// `idle` is called several times a second during every wait; it may throw.
  Bulletin(c10::intrusive_ptr<c10d::Store> store,
           std::string prefix,
           std::function<void(const std::string& waiting_for)> idle);

  void post(const std::string& key, const std::string& text);

  /// Blocks until `key` is posted.  Throws WorldError after `patience`; zero
  /// means without end (somebody else watches over the ranks).
  std::string read(const std::string& key, std::chrono::milliseconds patience);

  /// Returns when `count` ranks have called it with the same name.
  void line_up(const std::string& name,
               int count,
               std::chrono::milliseconds patience);

 private:
  void wait_for(const std::string& key, std::chrono::milliseconds patience);

  c10::intrusive_ptr<c10d::Store> store_;
  std::string prefix_;
  std::function<void(const std::string&)> idle_;
};

}  // namespace paceline::bench
