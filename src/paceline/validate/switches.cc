// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/switches.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/validate/constants.h"
#include "paceline/validate/fixed.h"

namespace paceline::validate {
namespace {

constexpr SwitchInfo kSwitches[] = {
    {"turns of push and pull",
     "BytePS over TCP/IP pushes what is fused (BSP), then pulls it: a card "
     "carries one way at a time",
     "ps-lite's requests to pull stand behind pushes; that only these wait: "
     "no source",
     Table::kSurvey},
    {"copies over TCP",
     "what BytePS's workers send and receive shares one rate over 10GbE and "
     "100GbE, not over InfiniBand, and not at servers",
     "ZeroMQ copies on processors, of which servers have all; that this "
     "limits: no source",
     Table::kSurvey},
    {"BytePS's messages over 100GbE",
     "cross at what NCCL reaches there on 2 hosts, each way, however many "
     "there are, and not at the line's rate as over 10GbE",
     "the same TCP/IP on the same hardware; that ZeroMQ reaches as much: no "
     "source",
     Table::kSurvey},
    {"100GbE changes with hosts",
     "NCCL's rate falls and what BytePS's workers copy grows with a power of "
     "the hosts; 10GbE's and InfiniBand's stay",
     "four ZeroMQ threads; the powers: no source",
     Table::kSurvey},
    {"BytePS over 100GbE is 10GbE",
     "of ResNet-50 and BERT-Large, without ByteScheduler: predicted as"
     " 10GbE, scored apart",
     "the rows themselves",
     Table::kSurvey},
    {"ByteScheduler's starts",
     "collectives start at no cost, neither by rank, nor under "
     "compute, nor by TCP's latency",
     "Horovod's fusion is on in its scripts; that it hides all: no "
     "source",
     Table::kSurvey},
    {"ByteScheduler's Python",
     "every call of a module without children costs host time in "
     "either pass, and the host runs ahead",
     "its hooks and poller; for the form: no source",
     Table::kSurvey},
    {"ByteScheduler's TCP/IP",
     "a byte costs its hosts time beside the line's, over InfiniBand none",
     "cores copy it, and pollers keep them busy; for how much: no source",
     Table::kSurvey},
    {"ByteScheduler's optimizer",
     "AdamW's kernels are part of computing, beside the gradients",
     "its poller launches them; no source for when",
     Table::kSurvey},
    {"Paddle's BERT in 16 bits",
     "one collective per tensor",
     "no source",
     Table::kFrameworks},
    {"Paddle's BERT, exposed",
     "its all-reduce waits for the whole backward pass, at the rate "
     "that its cells of 1 and 8 devices differ by",
     "no source",
     Table::kFrameworks},
    {"Paddle's BERT, TCP/IP",
     "its collectives wait as the survey's do over TCP/IP, 27.4 us a step of "
     "NCCL's tree",
     "measured on 10GbE; of these sockets: no source",
     Table::kFrameworks},
    {"NGC PyTorch's loader",
     "16-bit ResNet-50 does not wait for its input as the others' does",
     "it decodes on the host (dali-cpu); that it idles: no source",
     Table::kFrameworks},
    {"waits between machines",
     "a step waits for the slowest of its machines, and with Horovod "
     "for agreement, whatever its bytes",
     "no source",
     Table::kFrameworks},
    {"late step",
     "the slowest of 10 steps is later where the network is crossed, "
     "and only there",
     "no source",
     Table::kDdp},
    {"ring's decline",
     "Horovod's ring slows with a power of the hosts; messages keep "
     "their rate",
     "no source",
     Table::kDecentralized},
    {"BlueFog's agreement",
     "its collectives inside a host start later with every rank, "
     "Horovod's do not",
     "its rank 0 agrees to each; for Horovod: no source",
     Table::kDecentralized},
};

}  // namespace

std::span<const SwitchInfo> switch_table() {
  return kSwitches;
}

Freedom freedom_of(Table table) {
  const auto of_table = [table](const auto& info) {
    return info.table == table;
  };
  const auto count = [&](const auto& all) {
    return static_cast<std::size_t>(std::ranges::count_if(all, of_table));
  };
  Freedom freedom{.constants = count(constant_table()),
                  .numbers = count(fixed_table()),
                  .switches = count(switch_table())};
  for (const FixedInfo& info : fixed_table()) {
    freedom.chosen += of_table(info) && info.chosen ? 1 : 0;
  }
  return freedom;
}

std::string in_words(const Freedom& freedom) {
  return fmt::format(
      "{} constants fitted, {} of {} fixed numbers and {} {} chosen by looking "
      "at cells",
      freedom.constants,
      freedom.chosen,
      freedom.numbers,
      freedom.switches,
      freedom.switches == 1 ? "switch" : "switches");
}

}  // namespace paceline::validate
