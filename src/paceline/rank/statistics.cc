// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/statistics.h"

#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/strategies/averaged_statistics.h"

namespace paceline::rank {
namespace {

/// Returns the running means and variances of a gated unit.  Leaves out the counts of batches,
/// which are the same on all ranks.
std::vector<at::Tensor> running_statistics_of(networks::Gated* gated) {
  std::vector<at::Tensor> found;
  if (auto* const module = dynamic_cast<torch::nn::Module*>(gated)) {
    for (const at::Tensor& buffer : module->buffers(/*recurse=*/false)) {
      if (buffer.is_floating_point()) {
        found.push_back(buffer);
      }
    }
  }
  return found;
}

}  // namespace

std::unique_ptr<plan::Planner> add_statistics_averaging(const cases::Case& configuration,
                                                        const runtime::TracedNetwork& network,
                                                        std::unique_ptr<plan::Planner> parameters) {
  if (configuration.average_buffers == 0) {
    return parameters;
  }
  std::vector<plan::Elements> elements;
  at::ScalarType type = at::kFloat;
  for (networks::Gated* gated : network.gated) {
    plan::Elements sum = 0;
    for (const at::Tensor& one : running_statistics_of(gated)) {
      sum += one.numel();
      type = one.scalar_type();
    }
    elements.push_back(sum);
  }
  if (std::reduce(elements.begin(), elements.end()) == 0) {
    throw UsageError(
        fmt::format("average_buffers: '{}' keeps no statistics of its inputs; take a network with "
                    "batch norm, or leave it out",
                    configuration.model));
  }
  return strategies::make_averaged_statistics(std::move(elements), runtime::plan_dtype(type),
                                              configuration.average_buffers, std::move(parameters));
}

void adopt_statistics(const runtime::TracedNetwork& network, const runtime::FlatMemory& memory) {
  const at::NoGradGuard no_grad;
  const std::vector<plan::Slice>& slices = memory.setup().statistics;
  for (std::size_t m = 0; m < slices.size(); ++m) {
    plan::Slice slice = slices[m];
    for (at::Tensor& one : running_statistics_of(network.gated[m])) {
      slice.count = one.numel();
      const at::Tensor place = memory.view(slice).view(one.sizes());
      place.copy_(one);
      one.set_data(place);
      slice.begin += slice.count;
    }
  }
}

}  // namespace paceline::rank
