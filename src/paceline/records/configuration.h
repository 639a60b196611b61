// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace paceline::records {

/// One case of a sweep: what was asked for, before anything was measured.
/// Two cases are the same case when their `key()` is equal.
struct Configuration {
  std::string label;  // "1M/2G"; not part of the key
  std::string model = "resnet50";
  int batch_size = 32;  // per rank and step (all micro-batches together)
  int image_size = 0;   // 0: the model's own
  int classes = 0;      // 0: the model's own
  int ranks = 1;
  std::vector<int> ranks_per_host;  // empty: packed by host
  std::string strategy = "fusion";  // canonical text, design section 1
  double bucket_mb = 25;            // MiB, as PyTorch counts them
  std::string engine = "gloo";      // gloo, nccl, mpi
  std::string device = "cpu";       // cpu, cuda
  std::string dtype = "fp32";       // fp32, bf16, amp
  bool channels_last = false;
  int threads = 0;     // intra-op threads per rank; 0: cores / largest world
  int warmup = 5;      // iterations, discarded
  int steps = 10;      // iterations, measured
  int accumulate = 1;  // micro-batches per step
  bool compat_accumulate = false;  // never zero gradients, as the original
  bool sync_each_step = false;     // device synchronized after every step
  std::uint64_t seed = 0;
  std::string optimizer = "sgd";  // sgd, adamw
  double learning_rate = 0.001;
  double momentum = 0.9;
  double weight_decay = 1e-4;
  std::string link{};    // modelled link, "1Gbit,50us"; empty: the engine's own
  std::string replay{};  // profile file that is slept through; empty: none
  double stretch = 1;    // link and replay run so many times slower
  /// Of a prediction on a described cluster: what it was priced with, beside
  /// the keys above (predict/priced_on.h); else empty.
  std::string cluster{};
  bool discard = false;  // a warm-up case: run, never recorded

  /// Canonical text of everything that shapes the result.
  std::string key() const;

  bool operator==(const Configuration&) const = default;
};

}  // namespace paceline::records
