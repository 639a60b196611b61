// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/networks/network_shape.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <ranges>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/plan/networks/shape_files.h"

namespace paceline::plan {
namespace {

using Json = nlohmann::ordered_json;

// python/paceline/adapters/trained.json, a part of the program, which network_shapes.py beside it
// reads too:
//
//   {"resnet50": {"leaf_calls": 158, "modules": [
//     ["conv1", "convolution", 236027904, 3813376, [7, 2, 1],
//      {"weight": [64, 3, 7, 7]}], ...]}, ...}
//
// A module has a name, a kind, the flops and bytes of LayerWork, a convolution's kernel, stride and
// groups (else []), and the sizes of its parameters in registration order.  Modules are in forward
// order.  Gradients become final in the reverse order.  (Inside a convolution or batch norm
// autograd ends weight and bias at the same time, weight first.)

LayerKind kind_of(const Json& name) {
  constexpr auto kKinds =
      std::to_array<std::string_view>({"convolution", "normalization", "linear", "embedding"});
  const auto* found = std::ranges::find(kKinds, name.get<std::string>());
  PACELINE_CHECK(found != kKinds.end());
  return static_cast<LayerKind>(found - kKinds.begin());
}

void add_module(const Json& module, NetworkShape& shape) {
  const auto name = module.at(0).get<std::string>();
  const auto id = static_cast<ModuleId>(shape.work.size());
  LayerWork work{.kind = kind_of(module.at(1)), .flops = module.at(2), .bytes = module.at(3)};
  if (const Json& window = module.at(4); !window.empty()) {
    work.kernel = window.at(0);
    work.stride = window.at(1);
    work.groups = window.at(2);
  }
  shape.model.modules.push_back(name);
  shape.work.push_back(work);
  for (const auto& [parameter, sizes] : module.at(5).items()) {
    ParameterShape one{.name = fmt::format("{}.{}", name, parameter),
                       .sizes = sizes.get<std::vector<Elements>>(),
                       .module = id};
    one.elements =
        std::accumulate(one.sizes.begin(), one.sizes.end(), Elements{1}, std::multiplies<>());
    shape.model.parameters.push_back(std::move(one));
  }
}

NetworkShape shape_of(const std::string& name, const Json& network) {
  NetworkShape shape;
  shape.model.name = name;
  shape.leaf_calls = network.at("leaf_calls");
  for (const Json& module : network.at("modules")) {
    add_module(module, shape);
  }
  for (std::size_t p = shape.model.parameters.size(); p-- > 0;) {
    shape.model.ready_order.push_back(static_cast<ParameterId>(p));
  }
  return shape;
}

const std::vector<NetworkShape>& all_networks() {
  static const std::vector<NetworkShape> shapes = [] {
    std::vector<NetworkShape> read;
    const Json networks = Json::parse(kTrainedShapes);
    for (const auto& [name, network] : networks.items()) {
      read.push_back(shape_of(name, network));
    }
    return read;
  }();
  return shapes;
}

}  // namespace

NetworkShape network_shape(std::string_view name) {
  for (const NetworkShape& shape : all_networks()) {
    if (shape.model.name == name) {
      return shape;
    }
  }
  throw UsageError(fmt::format("no shape of a network '{}'; known are {}", name,
                               fmt::join(network_names(), ", ")));
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const NetworkShape& shape : all_networks()) {
    names.push_back(shape.model.name);
  }
  return names;
}

}  // namespace paceline::plan
