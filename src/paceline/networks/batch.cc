// SPDX-License-Identifier: Apache-2.0
#include "paceline/networks/batch.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/networks/formula.h"

namespace paceline::networks {
namespace {

constexpr std::uint32_t kInputStream = 1;
constexpr std::uint32_t kTargetStream = 2;
constexpr double kNonZeroPerUnit = 8;

std::uint32_t low(std::uint64_t seed) {
  return static_cast<std::uint32_t>(seed);
}
std::uint32_t high(std::uint64_t seed) {
  return static_cast<std::uint32_t>(seed >> 32);
}

/// A contiguous CPU tensor whose element i is value(i).
template <class T, class Value>
at::Tensor tabulate(at::IntArrayRef sizes, const Value& value) {
  at::Tensor out =
      at::empty(sizes, at::TensorOptions(c10::CppTypeToScalarType<T>::value));
  PACELINE_CHECK(out.numel() <= std::numeric_limits<std::uint32_t>::max());
  T* data = out.template mutable_data_ptr<T>();
  const auto count = static_cast<std::uint32_t>(out.numel());
  for (std::uint32_t i = 0; i < count; ++i) {
    data[i] = static_cast<T>(value(i));
  }
  return out;
}

at::Tensor make_input(at::IntArrayRef sizes, const BatchOptions& options) {
  const std::uint32_t stream =
      stream_of({low(options.seed),
                 high(options.seed),
                 static_cast<std::uint32_t>(options.rank),
                 kInputStream});
  if (options.integers) {
    return tabulate<float>(
        sizes, [=](std::uint32_t i) { return below_at(stream, i, 4); });
  }
  return tabulate<float>(sizes,
                         [=](std::uint32_t i) { return unit_at(stream, i); });
}

/// Fans in of a weight: inputs that one output unit sums over.
double fan_in(const at::Tensor& weight) {
  return static_cast<double>(weight.numel() / weight.size(0));
}

/// Sets every parameter to element(name, shape), made as float32 on the CPU.
template <class Element>
void fill(Network& network, const Element& make) {
  const torch::NoGradGuard no_grad;
  for (auto& item : network.named_parameters()) {
    item.value().copy_(make(item.key(), item.value()));
  }
}

template <class Word>
std::uint64_t hash_words(const at::Tensor& tensor) {
  const auto* bytes = static_cast<const std::byte*>(tensor.const_data_ptr());
  const std::size_t words = tensor.nbytes() / sizeof(Word);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words; ++i) {
    Word word;
    std::memcpy(&word, bytes + i * sizeof(Word), sizeof(Word));
    sum += mix(word ^ mix(static_cast<std::uint32_t>(i)));
  }
  return sum;
}

bool is_scale(const std::string& name) {
  return name.ends_with("weight");
}

}  // namespace

Batch make_batch(const NetworkInfo& info, const BatchOptions& options) {
  if (options.batch_size < 1) {
    throw UsageError(
        fmt::format("batch size {} must be at least 1", options.batch_size));
  }
  const int side = options.network.image_size > 0 ? options.network.image_size
                                                  : info.image_size;
  const auto classes = static_cast<std::uint32_t>(
      options.network.classes > 0 ? options.network.classes : info.classes);
  const std::uint32_t stream =
      stream_of({low(options.seed),
                 high(options.seed),
                 static_cast<std::uint32_t>(options.rank),
                 kTargetStream});
  const at::Tensor input =
      make_input({options.batch_size, info.channels, side, side}, options);
  const at::Tensor target = tabulate<std::int64_t>(
      {options.batch_size},
      [=](std::uint32_t i) { return below_at(stream, i, classes); });
  return {.input = input.to(options.device, options.dtype)
                       .contiguous(options.channels_last
                                       ? at::MemoryFormat::ChannelsLast
                                       : at::MemoryFormat::Contiguous),
          .target = target.to(options.device)};
}

std::shared_ptr<Network> make_network(const NetworkInfo& info,
                                      const NetworkOptions& options,
                                      std::uint64_t seed) {
  torch::manual_seed(seed);
  return info.make(options);
}

void fill_by_formula(Network& network, std::uint64_t seed) {
  fill(network, [&](const std::string& name, const at::Tensor& parameter) {
    const std::uint32_t stream =
        stream_of({low(seed), high(seed), stream_of(name)});
    if (parameter.dim() > 1) {
      const double bound = std::sqrt(6.0 / fan_in(parameter));
      return tabulate<float>(parameter.sizes(), [=](std::uint32_t i) {
        return (2 * unit_at(stream, i) - 1) * bound;
      });
    }
    const double center = is_scale(name) ? 1 : 0;
    return tabulate<float>(parameter.sizes(), [=](std::uint32_t i) {
      return center + 0.125 * (2 * unit_at(stream, i) - 1);
    });
  });
}

void fill_with_integers(Network& network, std::uint64_t seed) {
  fill(network, [&](const std::string& name, const at::Tensor& parameter) {
    const std::uint32_t stream =
        stream_of({low(seed), high(seed), stream_of(name)});
    const double density =
        parameter.dim() > 1 ? std::min(1.0, kNonZeroPerUnit / fan_in(parameter))
                            : 1.0;
    return tabulate<float>(parameter.sizes(), [=](std::uint32_t i) {
      const double unit = unit_at(stream, i);
      return unit < density / 2 ? -1 : unit < density ? 1 : 0;
    });
  });
}

at::Tensor integer_loss(const at::Tensor& logits, const at::Tensor& target) {
  const at::Tensor index = target.unsqueeze(1);
  const at::Tensor next = (index + 1).remainder(logits.size(1));
  return (logits.gather(1, index) - logits.gather(1, next)).sum();
}

void to_channels_last(Network& network) {
  for (at::Tensor& parameter : network.parameters()) {
    if (parameter.dim() == 4) {
      parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
      parameter.mutable_grad().reset();
    }
  }
}

std::uint64_t fingerprint(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().cpu().contiguous();
  return plain.element_size() == 2 ? hash_words<std::uint16_t>(plain)
                                   : hash_words<std::uint32_t>(plain);
}

std::uint64_t fingerprint(const std::vector<at::Tensor>& tensors) {
  std::uint64_t sum = 0;
  std::uint64_t place = 0;
  for (const at::Tensor& tensor : tensors) {
    sum += ++place * fingerprint(tensor);
  }
  return sum;
}

}  // namespace paceline::networks
