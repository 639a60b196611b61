// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/fixed.h"

namespace paceline::validate {
namespace {

constexpr FixedInfo kTable[] = {
    {Table::kSurvey,
     "device memory",
     "GB/s",
     kMemoryRate / 1e9,
     false,
     "what copies reach of RTX 2080 Ti's 616 GB/s"},
    {Table::kSurvey,
     "device arithmetic",
     "TFLOP/s",
     kFlops / 1e12,
     false,
     "what matrix products reach of its 13.4; only the shares of layers "
     "depend on it"},
    {Table::kSurvey,
     "AdamW's passes",
     "tensors",
     kAdamPasses,
     true,
     "reads and writes of its unfused kernels"},
    {Table::kSurvey,
     "SGD, per tensor",
     "us",
     kSgdLaunch * 1e6,
     true,
     "one kernel launch from Python"},
    {Table::kSurvey,
     "InfiniBand",
     "GB/s",
     kInfiniBand / 1e9,
     false,
     "the line's 100 Gb/s; the bus is always slower"},
    {Table::kSurvey,
     "backward pass",
     "forwards",
     kBackward,
     false,
     "two products for one of the forward pass"},
    {Table::kSurvey,
     "Winograd",
     "times",
     kWinograd,
     false,
     "fewer multiplications of 3x3 convolutions: arXiv:1509.09308, 4.1"},
    {Table::kSurvey,
     "strided convolutions",
     "times",
     kStrided,
     true,
     "time over that of their arithmetic: with it MG-WFBP's rule finds groups "
     "that fit its rows"},
};

}  // namespace

std::span<const FixedInfo> fixed_table() {
  return kTable;
}

}  // namespace paceline::validate
