// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/networks/network_shape.h"

namespace paceline::plan {

inline constexpr double kActivationBytes = 4;

/// Collects modules in forward order with their parameters.
class ShapeBuilder {
 public:
  explicit ShapeBuilder(std::string name);

  /// The parameters are called NAME.weight and NAME.bias; an empty `bias`
  /// means that there is none.
  void add(std::string_view name,
           const LayerWork& work,
           std::vector<Elements> weight,
           std::vector<Elements> bias = {});

  /// A module whose only parameter is a bias: the weight belongs to another.
  void add_bias(std::string_view name, const LayerWork& work, Elements size);

  /// More work of the module that was added last.
  void also(double flops, double bytes);

  /// Calls of modules that have no parameters.
  void call(int count);

  /// Gradients become final in the reverse of the forward order; within a
  /// module in that of `order`, "bw" or "wb".
  NetworkShape finish(std::string_view order);

 private:
  void module(std::string_view name, const LayerWork& work);
  void parameter(std::string name, std::vector<Elements> sizes);

  NetworkShape shape_;
};

}  // namespace paceline::plan
