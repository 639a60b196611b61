// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/rejection.h"

#include <exception>

#include "paceline/base/error.h"

namespace paceline::rank {

std::optional<std::string> Rejection::of(const std::string& key,
                                         const std::function<void()>& run_case) {
  key_ = continues_without_rejected_ ? key : "";
  std::optional<std::string> why;
  try {
    run_case();
  } catch (const UsageError& error) {
    if (key_.empty()) {
      throw;
    }
    why = store_->set_if_absent(key, error.what());
  } catch (const std::exception&) {
    why = key_.empty() ? std::nullopt : store_->get(key);
    if (!why) {
      throw;
    }
  }
  key_.clear();
  return why;
}

void Rejection::throw_if_rejected() const {
  if (key_.empty()) {
    return;
  }
  if (const auto why = store_->get(key_)) {
    throw UsageError(*why);
  }
}

}  // namespace paceline::rank
