// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/explanations.h"

namespace paceline::validate {
namespace {

struct Explanation {
  std::string_view begin;  // of the row_id
  std::string_view text;
};

constexpr Explanation kExplanations[] = {
    {"rn50_amp_b256|PaddlePaddle",
     "bound by the input pipeline from 16 devices on, which 8 do not show"},
    {"rn50_amp_b256|MXNet", "bound by the input pipeline"},
    {"ByteScheduler-PS|BERT-Large|100GbIB|16",
     "slower a step than 8 and 32 devices, spread 15 %: the published number"},
    {"MG-WFBP|ResNet-50|10GbE|32",
     "the published greedy rule jumps between plans with the layer profile"},
};

}  // namespace

std::string_view explanation_of(const Cell& cell) {
  for (const Explanation& one : kExplanations) {
    if (cell.id.starts_with(one.begin)) {
      return one.text;
    }
  }
  return "not explained";
}

}  // namespace paceline::validate
