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

constexpr std::size_t kElementsWithoutTokens = 6;  // JSON elements of a module without token terms

// The format of python/paceline/adapters/trained.json, which is compiled into the program and which
// network_shapes.py beside it reads too:
//
//   {"resnet50": {"leaf_calls": 158, "modules": [
//     ["conv1", "convolution", 236027904, 3813376, [7, 2, 1],
//      {"weight": [64, 3, 7, 7]}], ...]}, ...}
//
// A module has a name, a kind, the flops and bytes of LayerWork, a convolution's kernel, stride and
// groups (else []), and the sizes of its parameters in registration order.  In a network that reads
// text, two pairs follow, one of flops and one of bytes: the part that grows with the tokens and
// the part that grows with their square, each at the network's own "tokens".  Modules are in
// forward order, and gradients become final in the reverse order.  (Inside a convolution or batch
// norm, autograd finishes weight and bias at the same time, weight first.)

/// The parts of a module's flops or bytes that grow with the number of tokens and with its square.
/// Both are given for the network's default number of tokens.
struct TokenDependentCost {
  double linear = 0, square = 0;

  /// Returns the increase of the flops or bytes if there are `ratio` times the default number of
  /// tokens.
  double added(double ratio) const { return (ratio - 1) * (linear + (ratio + 1) * square); }
};

struct TokenDependentModuleCosts {
  TokenDependentCost flops, bytes;
};

struct BuiltInNetwork {
  NetworkShape shape;
  std::vector<TokenDependentModuleCosts> terms{};  // by ModuleId; empty: the network reads no text
};

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

BuiltInNetwork network_from_json(const std::string& name, const Json& network) {
  BuiltInNetwork result;
  NetworkShape& shape = result.shape;
  shape.model.name = name;
  shape.leaf_calls = network.at("leaf_calls");
  shape.default_tokens = network.value("tokens", 0);
  for (const Json& module : network.at("modules")) {
    add_module(module, shape);
    if (module.size() > kElementsWithoutTokens) {
      const Json &flops = module.at(kElementsWithoutTokens),
                 &bytes = module.at(kElementsWithoutTokens + 1);
      result.terms.push_back(
          {.flops = {flops.at(0), flops.at(1)}, .bytes = {bytes.at(0), bytes.at(1)}});
    }
  }
  for (std::size_t p = shape.model.parameters.size(); p-- > 0;) {
    shape.model.ready_order.push_back(static_cast<ParameterId>(p));
  }
  return result;
}

const std::vector<BuiltInNetwork>& all_networks() {
  static const std::vector<BuiltInNetwork> all = [] {
    std::vector<BuiltInNetwork> read;
    const Json networks = Json::parse(kTrainedShapes);
    for (const auto& [name, network] : networks.items()) {
      read.push_back(network_from_json(name, network));
    }
    return read;
  }();
  return all;
}

/// The number of positions that the network can embed, which limits the number of tokens.
Elements positions_of(const ModelShape& model) {
  const auto found = std::ranges::find_if(model.parameters, [](const ParameterShape& parameter) {
    return parameter.name.ends_with("position_embeddings.weight");
  });
  PACELINE_CHECK(found != model.parameters.end());
  return found->sizes.front();
}

NetworkShape shape_for_tokens(const BuiltInNetwork& network, int tokens) {
  NetworkShape shape = network.shape;
  if (shape.default_tokens == 0) {
    throw UsageError(fmt::format("sequence length {}: {} reads no text", tokens, shape.model.name));
  }
  const Elements most = positions_of(shape.model);
  if (tokens < 1 || tokens > most) {
    throw UsageError(fmt::format("sequence length {}: must be from 1 to the {} positions of {}",
                                 tokens, most, shape.model.name));
  }
  const double ratio = static_cast<double>(tokens) / shape.default_tokens;
  for (std::size_t m = 0; m < shape.work.size(); ++m) {
    shape.work[m].flops += network.terms[m].flops.added(ratio);
    shape.work[m].bytes += network.terms[m].bytes.added(ratio);
  }
  shape.sequence_length = tokens == shape.default_tokens ? 0 : tokens;
  return shape;
}

}  // namespace

NetworkShape network_shape(std::string_view name, int sequence_length) {
  for (const BuiltInNetwork& network : all_networks()) {
    if (network.shape.model.name == name) {
      return sequence_length == 0 ? network.shape : shape_for_tokens(network, sequence_length);
    }
  }
  throw UsageError(fmt::format("no shape of a network '{}'; known are {}", name,
                               fmt::join(network_names(), ", ")));
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const BuiltInNetwork& network : all_networks()) {
    names.push_back(network.shape.model.name);
  }
  return names;
}

}  // namespace paceline::plan
