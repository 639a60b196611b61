// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/explanations.h"

#include "paceline/validate/survey.h"

namespace paceline::validate {
namespace {

struct Explanation {
  std::string_view begin;  // of the row_id
  std::string_view text;
};

constexpr Explanation kExplanations[] = {
    {"rn50_amp_b256|PaddlePaddle",
     "16 devices are slower than 8: bound by the input pipeline"},
    {"rn50_amp_b256|TensorFlow 2.x",
     "loses 118 ms where a second machine joins, 6 ms with twice the bytes in "
     "32 bits, 9 ms from 2 to 4 machines: not the network"},
    {"bert_amp_b64|OneFlow W/O clip",
     "loses more from 2 to 4 machines than from 1 to 2: one of the two rows"},
    {"rn50_fp32_b128|PaddlePaddle",
     "loses 28 and 20 ms at the borders, more than its whole all-reduce takes "
     "(15): not the network"},
    {"bert_amp_b64|MXNet W/O clip",
     "loses 14 ms at the border, 36 in 32 bits with twice the bytes"},
    {"bert_amp_b64|NGC PyTorch",
     "half the bytes of 32 bits should cost half their 64 ms; 50 ms are lost"},
    {"bert_amp_max|NGC PyTorch",
     "half the bytes of 32 bits should cost half their 71 ms; 49 ms are lost"},
    {"rn50_fp32_b128|NGC TensorFlow 1.x|32",
     "every doubling costs the same 7 %, also inside a machine: its input "
     "pipeline"},
    {"ByteScheduler-PS|BERT-Large|100GbIB|16",
     "slower a step than 8 and 32 devices, spread 15 %: the published number"},
    {"BSP-PS|BERT-Base|100GbE|8", "repeats differ by 9 %"},
    {"WFBP-PS|BERT-Base|100GbE|8", "repeats differ by 7 %"},
    {"ByteScheduler-A2A|ResNet-50|",
     "repeats differ by 4 to 10 %; on 8 and 16 devices faster over 10GbE than "
     "over InfiniBand"},
    {"MG-WFBP|ResNet-50|10GbE|32",
     "the published greedy rule jumps between plans with the layer profile"},
    {"bf_full_benchmark2|horovod|32",
     "the published step grows by 55 ms from 16 to 32 devices and by 10 from "
     "32 to 64: a ring of 4 hosts as slow as one of 8"},
    {"bf_full_benchmark2|neighbor_allreduce",
     "published steps grow with the devices where nothing is left to hide "
     "behind: waits for partners are not modelled"},
    {"text|neighbor_allreduce|16",
     "of the paper's text: another set-up than the charts', whose rows of as "
     "many devices fit"},
    {"resnet101|16|p95", "the slowest of 10 steps; the p75 beside it fits"},
    {"resnet101|2M/8G|p95", "the slowest of 10 steps, one run"},
    {"resnext50_32x4d|2M/8G|p95",
     "the slowest of 10 steps, one run: late on ResNet-101, not here"},
};

}  // namespace

std::string_view explanation_of(const Cell& cell) {
  if (cell.table == Table::kSurvey && ran_over_10gbe(survey_cell(cell))) {
    return "equals the row over 10GbE, which the same system with a "
           "server-side flag does not: most likely run over it, and predicted "
           "so";
  }
  for (const Explanation& one : kExplanations) {
    if (cell.id.starts_with(one.begin)) {
      return one.text;
    }
  }
  return "not explained";
}

}  // namespace paceline::validate
