// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/output_prefix.h"

#include <regex>

#include "paceline/base/text.h"

namespace paceline::launch {
namespace {

constexpr int kMostPrefixes = 3;

const std::regex& prefix() {
  // The groups match the rank in the prefixes of torchrun and PyTorch; of Open MPI; of MPICH; of
  // Slurm.
  static const std::regex expression(
      R"(\[[A-Za-z_][\w.-]*?(\d{1,6})\]: ?|)"
      R"(\[(?:[^\]\s]*@)?\d+,(\d{1,6})\](?:<std(?:out|err|diag)>)?: ?|)"
      R"(\[(\d{1,6})\] |)"
      R"( *(\d{1,6}): )");
  return expression;
}

}  // namespace

RankLine without_prefix(const std::string& line) {
  constexpr std::size_t kCertainGroups = 2, kGroups = 4;
  RankLine found{.text = line};
  bool differ = false;
  for (int i = 0; i < kMostPrefixes; ++i) {
    std::smatch match;
    if (!std::regex_search(found.text, match, prefix(), std::regex_constants::match_continuous)) {
      break;
    }
    for (std::size_t group = 1; group <= kGroups; ++group) {
      if (match[group].matched) {
        const auto rank = number_from<int>(match[group].str());
        differ = differ || (found.rank && found.rank != rank);
        found.rank = rank;
        found.certain = found.certain || group <= kCertainGroups;
      }
    }
    found.text = match.suffix();
  }
  if (differ) {
    found.rank.reset();
  }
  return found;
}

}  // namespace paceline::launch
