// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "paceline/launch/key_value_store.h"

namespace paceline::rank {

/// Lets one rank reject a case of the job on its own, for example a server that would have too many
/// messages: the other ranks see that in the store, and reject the case too.
class Rejection {
 public:
  /// Unless `goes_on`, a rejection ends the job: there is no other case, or a parent of the ranks
  /// starts the others anew.
  Rejection(std::shared_ptr<launch::KeyValueStore> store, bool goes_on)
      : store_(std::move(store)), goes_on_(goes_on) {}

  /// Runs `run_case`; returns why this rank or another one rejects the case, if one does: the first
  /// UsageError before accept().  `key` of the store is the case's own, and all ranks of the case
  /// give it.  Throws what else
  /// `run_case` does, where no rank has rejected the case.
  std::optional<std::string> of(const std::string& key, const std::function<void()>& run_case);

  /// To be called once all ranks of the case have made its plan: from here on a UsageError is no
  /// rejection, because others may be in a step.
  void accept() { key_.clear(); }

  /// To be called while the case waits for other ranks: throws UsageError where another rank has
  /// rejected it.  Does nothing outside of of().
  void throw_if_rejected() const;

 private:
  std::shared_ptr<launch::KeyValueStore> store_;
  bool goes_on_;
  std::string key_;  // of the case that may be rejected; empty: none
};

}  // namespace paceline::rank
