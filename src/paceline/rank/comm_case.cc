// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/comm_case.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <torch/types.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/engines/engine.h"
#include "paceline/engines/peer_wait.h"
#include "paceline/runtime/torch_device.h"

namespace paceline::rank {
namespace {

using plan::Pattern;

constexpr auto kDtypes =
    std::to_array<std::pair<std::string_view, at::ScalarType>>({{"fp32", at::kFloat},
                                                                {"fp64", at::kDouble},
                                                                {"fp16", at::kHalf},
                                                                {"bf16", at::kBFloat16},
                                                                {"int32", at::kInt}});

constexpr std::int64_t kBlockElements = 1 << 20;  // elements that are filled or checked at once

at::ScalarType type_of(std::string_view name) {
  for (const auto& [word, type] : kDtypes) {
    if (word == name) {
      return type;
    }
  }
  throw UsageError("--dtype: " + unknown_name_message("number type", name, comm_dtypes()));
}

// Returns a number m such that the sum of `world` integers below m is exact in the type.
std::int64_t exact_sum_modulus(at::ScalarType type, std::int64_t world) {
  const std::int64_t exact = type == at::kBFloat16 ? 256 : type == at::kHalf ? 2048 : 1 << 24;
  return std::clamp<std::int64_t>(exact / world, 2, 251);
}

using Works = std::vector<engines::Channel::Work>;

// One operation of `paceline comm` with its buffers on one rank.
class Operation {
 public:
  Operation(engines::Channel& channel, std::string_view name, std::int64_t bytes,
            const at::TensorOptions& options, const engines::PeerWait* peers)
      : channel_(channel), peers_(peers), pattern_(pattern_of(name)), world_(channel.world()) {
    const auto type = c10::typeMetaToScalarType(options.dtype());
    modulus_ = exact_sum_modulus(type, world_);
    const auto size = static_cast<std::int64_t>(c10::elementSize(type));
    bytes_ = rounded_bytes(name, bytes, size, world_);
    count_ = bytes_ / size;
    const std::int64_t shard = count_ / world_;
    const bool gathers = pattern_ == Pattern::kAllGather;
    in_ = at::zeros({gathers ? shard : count_}, options);
    out_ = pattern_ == Pattern::kReduceScatter ? at::zeros({shard}, options)
           : gathers || !pattern_              ? at::zeros({count_}, options)
                                               : in_;
    in_.fill_(0);  // touches every page of the buffer
    out_.fill_(0);
  }

  std::int64_t bytes() const { return bytes_; }

  void barrier() { wait_for({channel_.barrier()}); }

  void perform() { wait_for(issue()); }

  // Performs the operation once more on values with a known result, and returns the number of wrong
  // elements in its result.
  std::int64_t count_wrong() {
    for (std::int64_t begin = 0; begin < in_.numel(); begin += kBlockElements) {
      auto part = in_.narrow(0, begin, std::min(kBlockElements, in_.numel() - begin));
      part.copy_(values_of(channel_.rank(), indices(begin, part.numel())));
    }
    if (out_.data_ptr() != in_.data_ptr()) {
      out_.fill_(1);
    }
    perform();
    std::int64_t wrong = 0;
    for (std::int64_t begin = 0; begin < out_.numel(); begin += kBlockElements) {
      const auto part = out_.narrow(0, begin, std::min(kBlockElements, out_.numel() - begin));
      wrong += part.to(at::kLong).ne(expected(begin, part.numel())).sum().item<std::int64_t>();
    }
    return wrong;
  }

 private:
  Works issue() {
    if (pattern_ == Pattern::kAllReduce) {
      return {channel_.all_reduce(in_, plan::Reduce::kSum)};
    }
    if (pattern_ == Pattern::kReduceScatter) {
      return {channel_.reduce_scatter(in_, out_, plan::Reduce::kSum)};
    }
    if (pattern_ == Pattern::kAllGather) {
      return {channel_.all_gather(in_, out_)};
    }
    if (pattern_ == Pattern::kBroadcast) {
      return {channel_.broadcast(in_, 0)};
    }
    return channel_.exchange({{in_, neighbor(1)}}, {{out_, neighbor(world_ - 1)}});
  }

  void wait_for(const Works& works) const {
    for (const engines::Channel::Work& work : works) {
      if (peers_ != nullptr) {
        peers_->wait_for(work);
      } else {
        work->wait();
      }
    }
  }

  int neighbor(std::int64_t distance) const {
    return static_cast<int>((channel_.rank() + distance) % world_);
  }

  at::Tensor indices(std::int64_t begin, std::int64_t count) const {
    return at::arange(begin, begin + count, in_.options().dtype(at::kLong));
  }

  at::Tensor values_of(std::int64_t rank, const at::Tensor& index) const {
    return (index + 7 * rank).remainder(modulus_);
  }

  at::Tensor expected(std::int64_t begin, std::int64_t count) const {
    const std::int64_t rank = channel_.rank();
    if (pattern_ == Pattern::kBroadcast) {
      return values_of(0, indices(begin, count));
    }
    if (!pattern_) {
      return values_of(neighbor(world_ - 1), indices(begin, count));
    }
    if (pattern_ == Pattern::kAllGather) {
      const at::Tensor index = indices(begin, count);
      const std::int64_t shard = count_ / world_;
      return (index.remainder(shard) + 7 * index.div(shard, "floor")).remainder(modulus_);
    }
    const std::int64_t offset = pattern_ == Pattern::kReduceScatter ? rank * (count_ / world_) : 0;
    const at::Tensor index = indices(begin + offset, count);
    at::Tensor sum = at::zeros_like(index);
    for (std::int64_t r = 0; r < world_; ++r) {
      sum += values_of(r, index);
    }
    return sum;
  }

  engines::Channel& channel_;
  const engines::PeerWait* peers_;
  std::optional<Pattern> pattern_;  // the collective; nothing: messages between neighbors
  std::int64_t world_ = 1, modulus_ = 2, count_ = 0, bytes_ = 0;
  at::Tensor in_, out_;
};

}  // namespace

std::vector<std::string> comm_dtypes() {
  std::vector<std::string> names;
  for (const auto& [name, type] : kDtypes) {
    names.emplace_back(name);
  }
  return names;
}

std::optional<Pattern> pattern_of(std::string_view operation) {
  for (const Pattern pattern : plan::kPatterns) {
    if (plan::name_of(pattern) == operation) {
      return pattern;
    }
  }
  PACELINE_CHECK(operation == plan::kMessageOperation);
  return std::nullopt;
}

std::int64_t element_bytes(std::string_view dtype) {
  return static_cast<std::int64_t>(c10::elementSize(type_of(dtype)));
}

std::int64_t rounded_bytes(std::string_view operation, std::int64_t bytes, std::int64_t element,
                           std::int64_t world) {
  std::int64_t count = std::max<std::int64_t>(1, bytes / element);
  if (operation == plan::name_of(plan::Pattern::kReduceScatter) ||
      operation == plan::name_of(plan::Pattern::kAllGather)) {
    count = (count + world - 1) / world * world;
  }
  return count * element;
}

std::vector<CommRow> comm_rows(const std::vector<std::string>& operations,
                               const std::vector<std::int64_t>& sizes, std::string_view dtype,
                               std::int64_t world) {
  std::vector<CommRow> rows;
  for (const std::string& operation : operations) {
    for (const std::int64_t size : sizes) {
      const std::int64_t bytes = rounded_bytes(operation, size, element_bytes(dtype), world);
      add_once(rows, {.operation = operation, .bytes = bytes});
    }
  }
  return rows;
}

CommSamples measure_operation(engines::Channel& channel, std::string_view operation,
                              std::int64_t bytes, const CommIterations& iterations) {
  const at::NoGradGuard no_grad;
  const at::Device where{iterations.device};
  Operation one(channel, operation, bytes,
                at::TensorOptions().dtype(type_of(iterations.dtype)).device(where),
                iterations.peers);
  CommSamples samples;
  samples.bytes = one.bytes();
  engines::Ledger before = channel.ledger();
  const int total = iterations.warmup + iterations.measured;
  const auto progress = [&](int done) {
    if (iterations.progress) {
      iterations.progress(done, total);
    }
  };
  for (int i = 0; i < total; ++i) {
    progress(i);
    if (i == iterations.warmup) {
      before = channel.ledger();
    }
    one.barrier();
    runtime::synchronize(where);
    const std::int64_t began = steady_ns();
    one.perform();
    runtime::synchronize(where);
    if (i >= iterations.warmup) {
      samples.duration_ns.push_back(steady_ns() - began);
    }
    if (i == iterations.warmup) {
      samples.began_ns = began;
    }
  }
  samples.wire_bytes =
      (channel.ledger().total_bytes() - before.total_bytes()) / iterations.measured;
  progress(total);
  if (iterations.checks) {
    samples.wrong_elements = one.count_wrong();
  }
  return samples;
}

}  // namespace paceline::rank
