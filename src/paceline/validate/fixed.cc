// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/fixed.h"

namespace paceline::validate {
namespace {

constexpr FixedInfo kTable[] = {
    {"device memory",
     "GB/s",
     kMemoryRate / 1e9,
     "what copies reach of RTX 2080 Ti's 616 GB/s",
     Table::kSurvey,
     false},
    {"device arithmetic",
     "TFLOP/s",
     kFlops / 1e12,
     "what matrix products reach of its 13.4; only the shares of layers "
     "depend on it",
     Table::kSurvey,
     false},
    {"AdamW's passes",
     "tensors",
     kAdamPasses,
     "reads and writes of its unfused kernels",
     Table::kSurvey,
     true},
    {"SGD, per tensor",
     "us",
     kSgdLaunch * 1e6,
     "one kernel launch from Python",
     Table::kSurvey,
     true},
    {"10GbE",
     "GB/s",
     kTenGigabit / 1e9,
     "the line's 10 Gb/s, by which a fused tensor is pushed, then pulled",
     Table::kSurvey,
     false},
    {"InfiniBand",
     "GB/s",
     kInfiniBand / 1e9,
     "the line's 100 Gb/s; the bus is always slower",
     Table::kSurvey,
     false},
    {"TCP/IP, step of a tree",
     "us",
     kTcpStep * 1e6,
     "OSU's all-reduce of 4 bytes on 8 hosts with 10GbE takes 82.3 for 3 "
     "steps, on 4 hosts 54.5 for 2: hclhkbu/B-Caffe, logdata/allreduce8.log",
     Table::kSurvey,
     false},
    {"backward pass",
     "forwards",
     kBackward,
     "two products for one of the forward pass",
     Table::kSurvey,
     false},
    {"Winograd",
     "times",
     kWinograd,
     "fewer multiplications of 3x3 convolutions: arXiv:1509.09308, 4.1",
     Table::kSurvey,
     false},
    {"strided convolutions",
     "times",
     kStrided,
     "time over that of their arithmetic: with it MG-WFBP's rule finds groups "
     "that fit its rows",
     Table::kSurvey,
     true},
    {"Horovod's cycle",
     "ms",
     kHorovodCycle * 1e3,
     "HOROVOD_CYCLE_TIME's default: gradients that are ready within one are "
     "fused",
     Table::kFrameworks,
     false},
    {"Horovod's fusion",
     "MiB",
     kHorovodFused,
     "HOROVOD_FUSION_THRESHOLD's default, the most that is fused",
     Table::kFrameworks,
     false},
    {"OneFlow's and Paddle's fusion",
     "MiB",
     kFusedMebibytes,
     "nccl_fusion_threshold_mb and fuse_parameter_memory_size in their scripts",
     Table::kFrameworks,
     false},
    {"EDR InfiniBand",
     "GB/s",
     kInfiniBand / 1e9,
     "the line's 100 Gb/s, over RDMA",
     Table::kFrameworks,
     false},
};

}  // namespace

std::span<const FixedInfo> fixed_table() {
  return kTable;
}

}  // namespace paceline::validate
