// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/roofline.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <vector>

#include "paceline/base/error.h"
#include "paceline/plan/int128.h"

namespace paceline::predict {
namespace {

using plan::LayerKind;
using plan::LayerWork;

double seconds_of_layer(const LayerWork& work, double weight_bytes, int batch_size,
                        const RooflineOptions& options) {
  double flops = work.flops * batch_size;
  double slower = 1;
  if (work.kind == LayerKind::kConvolution) {
    const bool winograd = work.kernel == 3 && work.stride == 1 && work.groups == 1;
    flops /= winograd ? options.winograd : 1;
    slower = work.stride > 1 ? options.strided : 1;
  }
  const double bytes = work.bytes * batch_size + weight_bytes;
  return std::max(slower * flops / options.flops_per_s, bytes / options.memory_bytes_per_s);
}

/// Scales all times of the lists by one factor, to a sum of exactly `total`.
void stretch(std::initializer_list<std::vector<plan::Picoseconds>*> lists,
             plan::Picoseconds total) {
  plan::Picoseconds now = 0;
  for (const auto* times : lists) {
    now += std::accumulate(times->begin(), times->end(), plan::Picoseconds{0});
  }
  PACELINE_CHECK(total > 0 && now > 0);
  // End times are rounded instead of durations, so that the sum is exact.
  plan::Picoseconds before = 0, end_before = 0;
  for (auto* times : lists) {
    for (plan::Picoseconds& time : *times) {
      before += time;
      const auto end = static_cast<plan::Picoseconds>(static_cast<plan::Uint128>(before) *
                                                      static_cast<plan::Uint128>(total) /
                                                      static_cast<plan::Uint128>(now));
      time = end - end_before;
      end_before += time;
    }
  }
}

}  // namespace

plan::LayerProfile roofline_profile(const plan::NetworkShape& network, int batch_size,
                                    const RooflineOptions& options) {
  if (batch_size < 1) {
    throw UsageError(fmt::format("batch size {}: must be at least 1", batch_size));
  }
  const plan::ModelShape& model = network.model;
  const std::size_t modules = model.modules.size();
  PACELINE_CHECK_EQ(network.work.size(), modules);
  std::vector<double> weights(modules, 0);
  for (const plan::ParameterShape& parameter : model.parameters) {
    weights[plan::index_of(parameter.module)] +=
        static_cast<double>(parameter.elements * plan::size_of(model.dtype));
  }
  plan::LayerProfile profile;
  profile.origin = fmt::format("roofline of {}", model.name);
  std::vector<double> seconds;
  for (std::size_t m = 0; m < modules; ++m) {
    seconds.push_back(seconds_of_layer(network.work[m], weights[m], batch_size, options));
    profile.forward.push_back(plan::picoseconds_of(seconds.back()));
  }
  profile.backward.assign(model.parameters.size(), 0);
  // The backward time of a module without parameters counts with the next gradient.
  std::size_t open = modules;  // modules from here on are already counted
  for (const plan::ParameterId id : model.ready_order) {
    const std::size_t module = plan::index_of(model.parameters[plan::index_of(id)].module);
    double sum = 0;
    for (; open > module; --open) {
      sum += options.backward * seconds[open - 1];
    }
    profile.backward[plan::index_of(id)] = plan::picoseconds_of(sum);
  }
  return profile;
}

plan::LayerProfile profile_scaled_to(plan::LayerProfile profile, plan::Picoseconds total) {
  stretch({&profile.forward, &profile.backward}, total);
  return profile;
}

plan::LayerProfile profile_scaled_to(plan::LayerProfile profile, plan::Picoseconds forward,
                                     plan::Picoseconds backward) {
  stretch({&profile.forward}, forward);
  stretch({&profile.backward}, backward);
  return profile;
}

RooflineOptions roofline_of(const cluster::ClusterDevice& device, const RooflineCosts& costs,
                            plan::DType dtype) {
  RooflineOptions options{.backward = costs.backward_per_forward,
                          .winograd = costs.winograd_speedup,
                          .strided = costs.strided_slowdown};
  const bool in_8_bits = dtype == plan::DType::kF8 && device.fp8_flops_per_s;
  if (const auto& rate = in_8_bits ? device.fp8_flops_per_s : device.flops_per_s) {
    options.flops_per_s = costs.product_share * *rate;
  }
  if (device.memory_bytes_per_s) {
    options.memory_bytes_per_s = costs.copy_share * *device.memory_bytes_per_s;
  }
  return options;
}

}  // namespace paceline::predict
