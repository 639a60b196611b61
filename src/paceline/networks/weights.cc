// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "paceline/networks/batch.h"
#include "paceline/networks/formula.h"
#include "paceline/networks/network.h"
#include "paceline/networks/tabulate.h"

namespace paceline::networks {
namespace {

constexpr double kNonZeroPerUnit = 8;

// Scale of the last batch norm of a residual branch. Goyal et al. 2017 (arXiv:1706.02677, section
// 5.1) initialize it to 0. With scales near 1 the gradient of ResNet-50 has a norm of 1500, so that
// within five steps rounding errors grow to differences of a tenth in the loss.
constexpr double kBranchScale = 0.125;

/// Returns a weight's fan-in: the number of inputs over which one output unit sums.
double fan_in(const at::Tensor& weight) {
  const std::int64_t inputs = weight.numel() / weight.size(0);
  return static_cast<double>(inputs);
}

/// Sets every parameter to make(name, parameter), which returns float32 on the CPU.
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

bool is_scale(const std::string& name) { return name.ends_with("weight"); }

// The last batch norm of the branch is the third in a bottleneck, the second in a basic block.
bool ends_residual_branch(Network& network, const std::string& name) {
  constexpr std::string_view kSecond = ".bn2.weight";
  if (!name.ends_with(kSecond)) {
    return name.ends_with(".bn3.weight");
  }
  const std::string block = name.substr(0, name.size() - kSecond.size());
  return !network.named_parameters().contains(block + ".bn3.weight");
}

}  // namespace

std::shared_ptr<Network> make_network(const NetworkInfo& info, const NetworkOptions& options,
                                      std::uint64_t seed) {
  static std::mutex turn;  // all threads draw from torch's single generator, so they take turns
  const std::scoped_lock lock(turn);
  torch::manual_seed(seed);
  return info.make(options);
}

void fill_by_formula(Network& network, std::uint64_t seed) {
  fill(network, [&](const std::string& name, const at::Tensor& parameter) {
    const std::uint32_t stream = stream_of({low_word(seed), high_word(seed), stream_of(name)});
    if (parameter.dim() > 1) {
      const double bound = std::sqrt(6.0 / fan_in(parameter));
      return tabulate<float>(parameter.sizes(), [=](std::uint32_t i) {
        return (2 * uniform_unit_at(stream, i) - 1) * bound;
      });
    }
    const double center = is_scale(name) ? 1 : 0;
    const double factor = ends_residual_branch(network, name) ? kBranchScale : 1;
    return tabulate<float>(parameter.sizes(), [=](std::uint32_t i) {
      return factor * (center + 0.125 * (2 * uniform_unit_at(stream, i) - 1));
    });
  });
}

void fill_with_integers(Network& network, std::uint64_t seed) {
  fill(network, [&](const std::string& name, const at::Tensor& parameter) {
    const std::uint32_t stream = stream_of({low_word(seed), high_word(seed), stream_of(name)});
    const double density =
        parameter.dim() > 1 ? std::min(1.0, kNonZeroPerUnit / fan_in(parameter)) : 1.0;
    return tabulate<float>(parameter.sizes(), [=](std::uint32_t i) {
      const double unit = uniform_unit_at(stream, i);
      return unit < density / 2 ? -1 : unit < density ? 1 : 0;
    });
  });
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
