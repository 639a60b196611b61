// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/priced_on.h"

#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "paceline/cluster/profile_file.h"

namespace paceline::predict {
namespace {

/// FNV-1a (Fowler, Noll, Vo), 32 bits: the same on every machine.
std::uint32_t digest_of(std::string_view text) {
  std::uint32_t digest = 2'166'136'261U;
  for (const char c : text) {
    digest = (digest ^ static_cast<unsigned char>(c)) * 16'777'619U;
  }
  return digest;
}

/// The figures of the cluster, without its names and its hosts.
std::string figures_of(cluster::Cluster cluster) {
  cluster.name.clear();
  cluster.source.clear();
  cluster.hosts.clear();
  return cluster::to_toml(cluster);
}

std::string layers_of(const PredictRequest& request) {
  return cluster::to_json_text({.model = request.network.model,
                                .profile = *request.profile,
                                .batch_size = 1,
                                .device = {},
                                .update = request.update,
                                .memory = {}});
}

}  // namespace

std::string priced_on(const PredictRequest& request) {
  if (request.machine) {
    return "";
  }
  std::string text = request.cluster.name;
  if (request.algorithm) {
    text += fmt::format("; {}", *request.algorithm);
  }
  const cluster::Noise& noise = request.noise;
  if (noise.sigma > 0) {
    text += fmt::format("; noise {}", noise.sigma);
  }
  if (noise.straggler_probability > 0) {
    text += fmt::format("; stragglers {} x {}",
                        noise.straggler_probability,
                        noise.straggler_factor);
  }
  if (request.samples_per_s) {
    text += fmt::format("; device {} samples/s", *request.samples_per_s);
  }
  text += fmt::format(
      "; prices {:08x}",
      digest_of(figures_of(request.cluster) + request.cost_table().text));
  if (request.profile) {
    text += fmt::format("; layers {:08x}", digest_of(layers_of(request)));
  }
  return text;
}

}  // namespace paceline::predict
