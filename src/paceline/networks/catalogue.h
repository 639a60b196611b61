// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace paceline::networks {

class Network;  // networks/network.h

struct NetworkOptions {
  int image_size = 0;    // 0: the network's own
  int classes = 0;       // 0: the network's own
  double dropout = 0.5;  // vgg16's classifier; other networks have none
};

struct NetworkInfo {
  std::string_view name;  // resnet50
  std::string_view summary;
  int image_size;  // side of the square input
  int channels;
  int classes;
  std::shared_ptr<Network> (*make)(const NetworkOptions&);
};

/// Every built-in network, in the order `paceline list` prints.
const std::vector<NetworkInfo>& networks();

/// Throws UsageError that lists the known names.
const NetworkInfo& find_network(std::string_view name);

}  // namespace paceline::networks
