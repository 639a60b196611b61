// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace paceline::engines {

/// Counts the bytes that one rank sends. They are added when a call enters the engine, computed by
/// the closed forms of plan/wire_bytes.h (all-reduce 2(P-1)/P S, ...).
struct Ledger {
  std::map<std::string, std::int64_t> bytes;  // bytes sent, by plan::name_of(pattern)
  std::map<std::string, std::int64_t> calls;
  std::int64_t total_bytes() const;
  std::int64_t total_calls() const;

  void add_call(const std::string& pattern, std::int64_t wire_bytes);
  /// Adds the bytes and calls of another ledger.
  void add(const Ledger& other);
};

}  // namespace paceline::engines
