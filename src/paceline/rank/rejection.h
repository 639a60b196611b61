// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "paceline/launch/key_value_store.h"

namespace paceline::rank {

/// Lets one rank reject a case of the job, for example a server that would have too many messages.
/// The other ranks see the rejection in the store, and reject the case too.
class Rejection {
 public:
  /// Unless `continues_without_rejected`, a rejection ends the job: there is no other case, or a
  /// parent process starts the other cases in new ranks.
  Rejection(std::shared_ptr<launch::KeyValueStore> store, bool continues_without_rejected)
      : store_(std::move(store)), continues_without_rejected_(continues_without_rejected) {}

  /// Runs `run_case`.  Returns why a rank rejects the case, if one does: the first UsageError
  /// before accept() on this rank or another.  `key` of the store belongs to the case, and all
  /// ranks of the case pass the same key.  If no rank has rejected the case, throws what `run_case`
  /// throws.
  std::optional<std::string> of(const std::string& key, const std::function<void()>& run_case);

  /// Must be called once all ranks of the case have made its plan.  From then on a UsageError is no
  /// rejection, because other ranks may be in a step.
  void accept() { key_.clear(); }

  /// Must be called while the case waits for other ranks.  Throws UsageError if another rank has
  /// rejected the case.  Does nothing outside of of().
  void throw_if_rejected() const;

 private:
  std::shared_ptr<launch::KeyValueStore> store_;
  bool continues_without_rejected_;
  std::string key_;  // key of the case that may be rejected; empty: there is none
};

}  // namespace paceline::rank
