// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/ledger.h"

namespace paceline::engines {
namespace {

std::int64_t sum(const std::map<std::string, std::int64_t>& by_pattern) {
  std::int64_t total = 0;
  for (const auto& [pattern, value] : by_pattern) {
    total += value;
  }
  return total;
}

}  // namespace

std::int64_t Ledger::total_bytes() const { return sum(bytes); }
std::int64_t Ledger::total_calls() const { return sum(calls); }

void Ledger::add(const Ledger& other) {
  for (const auto& [pattern, of_it] : other.bytes) {
    bytes[pattern] += of_it;
  }
  for (const auto& [pattern, of_it] : other.calls) {
    calls[pattern] += of_it;
  }
}

void Ledger::add_call(const std::string& pattern, std::int64_t wire_bytes) {
  bytes[pattern] += wire_bytes;
  calls[pattern] += 1;
}

}  // namespace paceline::engines
