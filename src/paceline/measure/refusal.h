// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "paceline/launch/key_value_store.h"

namespace paceline::measure {

/// Refusals of cases of one job on one rank.  A rank may refuse a case alone,
/// as a server that would have too many messages; the others then wait for it,
/// at the store or in an engine, and refuse the case too.
class Refusal {
 public:
  explicit Refusal(std::shared_ptr<launch::KeyValueStore> store)
      : store_(std::move(store)) {}

  /// Runs `run_case`; returns why the case is refused, if it is: the first
  /// UsageError of any rank, the same on all.  `key` of the store is the case's
  /// own, and all ranks of the case give it.  Throws what else `run_case` does,
  /// where no rank has refused the case.
  std::optional<std::string> of(const std::string& key,
                                const std::function<void()>& run_case);

  /// To be called while the case waits for other ranks: throws UsageError where
  /// another rank has refused it.  Does nothing outside of of().
  void throw_if_refused() const;

 private:
  std::shared_ptr<launch::KeyValueStore> store_;
  std::string key_;  // of the case under way; empty: none
};

}  // namespace paceline::measure
