// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/constants.h"

#include <array>

namespace paceline::validate {
namespace {

constexpr std::array<ConstantInfo, kConstants> kTable{{
    {Constant::kBusRate,
     Table::kSurvey,
     "bus rate",
     "GB/s",
     8,
     6.171,
     "what each device of a host sends and receives at in an all-reduce, with "
     "nothing else going on: PCIe"},
    {Constant::kBusUnderCompute,
     Table::kSurvey,
     "bus rate under compute",
     "share",
     0.7,
     0.626,
     "what is left of the bus rate while the device computes"},
    {Constant::kCollectivePerRank,
     Table::kSurvey,
     "collective, per rank",
     "us",
     10,
     9.447,
     "start of a collective: Horovod's agreement and NCCL's launch, which grow "
     "with the ranks"},
    {Constant::kWaitUnderCompute,
     Table::kSurvey,
     "collective under compute",
     "ms",
     0.1,
     0.1908,
     "delay of a collective while devices compute, times log2 of the ranks: it "
     "starts when the last of them has room for its kernel"},
    {Constant::kAdamLaunch,
     Table::kSurvey,
     "AdamW, per tensor",
     "ms",
     0.1,
     0.2414,
     "host time per tensor of AdamW's kernels, which cannot be launched before "
     "the last collective is done; alone a device hides it behind backward"},
    {Constant::kTcp10Rate,
     Table::kSurvey,
     "NCCL over 10GbE",
     "GB/s",
     1.25,
     1.215,
     "what a host sends and receives at in a ring; the line carries 1.25"},
    {Constant::kIpoibRate,
     Table::kSurvey,
     "NCCL over 100GbE, 2 hosts",
     "GB/s",
     4,
     2.756,
     "the same over InfiniBand hardware used as TCP/IP; also what BytePS's "
     "messages cross at there, each way, on any number of hosts"},
    {Constant::kIpoibDecline,
     Table::kSurvey,
     "100GbE decline",
     "exponent",
     0.1,
     0.1059,
     "that rate falls with (hosts / 2) to this power"},
    {Constant::kSchedulerCall,
     Table::kSurvey,
     "ByteScheduler, per module call",
     "ms",
     1,
     0.9284,
     "Python's time per call of a module without children (158 in ResNet-50, "
     "143 and 275 in BERT) in either pass: its hooks surround each, and a "
     "poller that never sleeps contends with them for the interpreter's lock"},
    {Constant::kSchedulerSpread,
     Table::kSurvey,
     "ByteScheduler, ranks' spread",
     "%",
     10,
     19.34,
     "standard deviation of that time between ranks, of which the slowest of "
     "4, 8, 16 and 32, who sets the pace, is 1.03, 1.42, 1.77 and 2.07 late"},
    {Constant::kSchedulerTcp,
     Table::kSurvey,
     "ByteScheduler over TCP/IP",
     "ns/B",
     0.1,
     0.09825,
     "a host's time per byte beside the line's: its cores copy what TCP/IP "
     "carries, and Python's pollers of four ranks keep them busy"},
    {Constant::kServerBusRate,
     Table::kSurvey,
     "BytePS bus rate",
     "GB/s",
     8,
     3.764,
     "as the bus rate, in BytePS's reduce-scatter and all-gather of 4 MB"},
    {Constant::kServerBusUnderCompute,
     Table::kSurvey,
     "BytePS bus rate under compute",
     "share",
     0.7,
     0.4987,
     "what is left of it while the device computes"},
    {Constant::kServerTcp10Rate,
     Table::kSurvey,
     "BytePS over 10GbE",
     "GB/s",
     1.25,
     1.365,
     "what a worker's host sends and receives at together: ps-lite's ZeroMQ on "
     "TCP, which copies every byte; a server, which does not compute, is held "
     "by its card alone"},
    {Constant::kServerIpoibRate,
     Table::kSurvey,
     "BytePS over 100GbE, 2 servers",
     "GB/s",
     4,
     2.248,
     "the same over InfiniBand hardware used as TCP/IP"},
    {Constant::kServerIpoibGrowth,
     Table::kSurvey,
     "BytePS 100GbE growth",
     "exponent",
     0.5,
     0.6684,
     "that rate grows with (servers / 2) to this power: a connection each, "
     "which ZeroMQ spreads over four threads"},
    {Constant::kFrameworkTcpRate,
     Table::kFrameworks,
     "NCCL over sockets",
     "GB/s",
     4,
     3.857,
     "what a host sends and receives at in an all-reduce with InfiniBand "
     "switched off, as Paddle's BERT runs"},
    {Constant::kFrameworkPerRank,
     Table::kFrameworks,
     "collective, per rank",
     "us",
     10,
     17.14,
     "start of a collective across machines, which grows with the ranks"},
    {Constant::kFrameworkJitter,
     Table::kFrameworks,
     "machines' jitter",
     "ms",
     10,
     20.22,
     "standard deviation of a machine's step: the slowest of 2 and 4 machines "
     "is 0.56 and 1.03 of them late"},
    {Constant::kFrameworkAgreement,
     Table::kFrameworks,
     "Horovod's agreement",
     "ms",
     5,
     8.12,
     "a step's wait for Horovod's coordinator across machines: ranks report "
     "what is ready once a cycle of 5 ms"},
    {Constant::kFrameworkInput,
     Table::kFrameworks,
     "input pipeline's jitter",
     "ms",
     10,
     32.57,
     "more of a machine's jitter where 16-bit ResNet-50 keeps its loaders "
     "busy, "
     "which share cores and bus with the network"},
    {Constant::kDdpHook,
     Table::kDdp,
     "gradient hook",
     "us",
     10,
     13.57,
     "per tensor: copy of its gradient into the bucket, kernel launches"},
    {Constant::kDdpCopyRate,
     Table::kDdp,
     "bucket copy",
     "GB/s",
     100,
     68.92,
     "rate at which gradients are copied into buckets and back"},
    {Constant::kDdpUnderTransfer,
     Table::kDdp,
     "compute under transfer",
     "share",
     0.9,
     0.728,
     "speed of computing while NCCL's kernels hold multiprocessors"},
    {Constant::kDdpLaunch,
     Table::kDdp,
     "collective",
     "us",
     100,
     227.1,
     "start of a bucket's all-reduce"},
    {Constant::kDdpStraggler,
     Table::kDdp,
     "straggler",
     "%",
     1,
     2.817,
     "relative standard deviation of the devices' steps: the slowest of 2, 8 "
     "and 16 is 0.56, 1.42 and 1.77 of it late, and sets the pace"},
    {Constant::kDdpNoise,
     Table::kDdp,
     "noise",
     "%",
     1,
     0.1552,
     "relative standard deviation of a step"},
    {Constant::kDdpLateStep,
     Table::kDdp,
     "late step",
     "%",
     1,
     2.997,
     "by which the slowest of 10 steps is later where the network is crossed"},
    {Constant::kCloudRate,
     Table::kDecentralized,
     "25 Gb/s network",
     "GB/s",
     1.25,
     1.095,
     "what a host sends and receives at in messages: one TCP flow, which EC2 "
     "holds at 1.25 in a placement group; the line carries 3.125"},
    {Constant::kCloudRingRate,
     Table::kDecentralized,
     "25 Gb/s network, ring of 2 hosts",
     "GB/s",
     3.125,
     1.95,
     "the same in NCCL's ring, which opens several sockets"},
    {Constant::kCloudDecline,
     Table::kDecentralized,
     "25 Gb/s decline",
     "exponent",
     0.1,
     0.3413,
     "that rate falls with (hosts / 2) to this power: its slowest "
     "link sets the pace"},
    {Constant::kCloudPerRank,
     Table::kDecentralized,
     "BlueFog's collective, per rank",
     "us",
     100,
     292.1,
     "start of a collective inside a host, which its rank 0 must agree to"},
    {Constant::kCloudMessage,
     Table::kDecentralized,
     "message",
     "ms",
     1,
     0.5862,
     "start of a neighbor exchange"},
    {Constant::kCloudUnderTransfer,
     Table::kDecentralized,
     "compute under transfer",
     "share",
     0.9,
     0.8288,
     "speed of computing while something is in flight"},
}};

}  // namespace

std::span<const ConstantInfo> constant_table() {
  return kTable;
}

Constants::Constants() {
  for (const ConstantInfo& info : kTable) {
    values_.push_back(info.value);
  }
}

Constants Constants::before() {
  Constants constants;
  for (const ConstantInfo& info : kTable) {
    constants[info.id] = info.before;
  }
  return constants;
}

std::vector<Constant> constants_of(Table table) {
  std::vector<Constant> ids;
  for (const ConstantInfo& info : kTable) {
    if (info.table == table) {
      ids.push_back(info.id);
    }
  }
  return ids;
}

}  // namespace paceline::validate
