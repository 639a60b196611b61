// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace paceline {

/// Bytes and microseconds.
using Times = std::vector<std::pair<std::int64_t, double>>;

struct NcclTestsLog {
  std::vector<std::string> hosts;  // of each rank
  std::string device;
  Times times;
  std::string wrong = "0";  // elements of each row
};

/// What all_reduce_perf prints; in place it takes as long.
inline std::string text_of(const NcclTestsLog& log) {
  const auto ranks = static_cast<double>(log.hosts.size());
  std::string text =
      "# Collective test starting: all_reduce_perf\n"
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 "
      "agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n";
  for (std::size_t rank = 0; rank < log.hosts.size(); ++rank) {
    const auto device =
        std::count(log.hosts.begin(), log.hosts.begin() + static_cast<long>(rank), log.hosts[rank]);
    text +=
        fmt::format("#  Rank {:2} Group  0 Pid {:6} on {:>10} device {:2} [0000:{:02x}:00] {}\n",
                    rank, 70 + rank, log.hosts[rank], device, 16 + device, log.device);
  }
  text +=
      "#\n"
      "#                                           out-of-place                in-place\n"
      "#  size   count   type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
      "#   (B)  (elements)                  (us) (GB/s) (GB/s)         (us) (GB/s) (GB/s)\n";
  for (const auto& [bytes, us] : log.times) {
    const double rate = static_cast<double>(bytes) / us * 1e-3;
    const std::string figures =
        fmt::format("{:.2f} {:.2f} {:.2f} {}", us, rate, rate * 2 * (ranks - 1) / ranks, log.wrong);
    text += fmt::format("{:12} {:12} float sum -1 {} {}\n", bytes, bytes / 4, figures, figures);
  }
  const std::size_t wrong = log.wrong == "0" ? 0 : 2 * log.times.size();
  return text + fmt::format(
                    "# Out of bounds values : {} {}\n#\n"
                    "# Collective test concluded: all_reduce_perf\n",
                    wrong, wrong == 0 ? "OK" : "FAILED");
}

/// The line rates of nodes of eight A100.
constexpr const char* kLab = R"(
[[hosts]]
name = "node"
count = 8
slots = 8
[[links]]
name = "nvlink3"
joins = "devices"
sharing = "device"
rate = "300GB/s"
latency = "2us"
[[links]]
name = "network"
joins = "hosts"
sharing = "device"
rate = "200Gbit"
latency = "2us"
)";

/// Two nodes of eight A100; sizes and times as in logs of this form that users posted.
inline NcclTestsLog sixteen_a100() {
  NcclTestsLog log{.hosts = {}, .device = "NVIDIA A100-SXM4-40GB", .times = {}};
  log.hosts.assign(8, "node-a");
  log.hosts.insert(log.hosts.end(), 8, "node-b");
  log.times = {{1 << 20, 111.85},
               {1 << 22, 177.38},
               {1 << 24, 439.53},
               {1 << 26, 1488.1},
               {1 << 28, 5682.4}};
  return log;
}

}  // namespace paceline
