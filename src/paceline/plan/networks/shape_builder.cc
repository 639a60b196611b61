// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/networks/shape_builder.h"

#include <functional>
#include <numeric>
#include <utility>

#include "paceline/base/error.h"

namespace paceline::plan {

double NetworkShape::flops() const {
  return std::accumulate(
      work.begin(), work.end(), 0.0, [](double sum, const LayerWork& layer) {
        return sum + layer.flops;
      });
}

std::int64_t NetworkShape::elements() const {
  return std::accumulate(model.parameters.begin(),
                         model.parameters.end(),
                         std::int64_t{0},
                         [](std::int64_t sum, const ParameterShape& parameter) {
                           return sum + parameter.elements;
                         });
}

ShapeBuilder::ShapeBuilder(std::string name) {
  shape_.model.name = std::move(name);
}

void ShapeBuilder::module(std::string_view name, const LayerWork& work) {
  shape_.model.modules.emplace_back(name);
  shape_.work.push_back(work);
  ++shape_.leaf_calls;
}

void ShapeBuilder::parameter(std::string name, std::vector<Elements> sizes) {
  const Elements elements = std::accumulate(
      sizes.begin(), sizes.end(), Elements{1}, std::multiplies<>());
  const auto module = static_cast<std::int32_t>(shape_.work.size() - 1);
  shape_.model.parameters.push_back({.name = std::move(name),
                                     .sizes = std::move(sizes),
                                     .elements = elements,
                                     .module = ModuleId{module}});
}

void ShapeBuilder::add(std::string_view name,
                       const LayerWork& work,
                       std::vector<Elements> weight,
                       std::vector<Elements> bias) {
  module(name, work);
  parameter(std::string(name) + ".weight", std::move(weight));
  if (!bias.empty()) {
    parameter(std::string(name) + ".bias", std::move(bias));
  }
}

void ShapeBuilder::add_bias(std::string_view name,
                            const LayerWork& work,
                            Elements size) {
  module(name, work);
  parameter(std::string(name) + ".bias", {size});
}

void ShapeBuilder::also(double flops, double bytes) {
  PACELINE_CHECK(!shape_.work.empty());
  shape_.work.back().flops += flops;
  shape_.work.back().bytes += bytes;
}

void ShapeBuilder::call(int count) {
  shape_.leaf_calls += count;
}

NetworkShape ShapeBuilder::finish(std::string_view order) {
  ModelShape& model = shape_.model;
  const auto count = static_cast<std::int32_t>(model.parameters.size());
  for (std::int32_t end = count; end > 0;) {
    std::int32_t begin = end - 1;
    while (begin > 0 &&
           model.parameters[static_cast<std::size_t>(begin - 1)].module ==
               model.parameters[static_cast<std::size_t>(end - 1)].module) {
      --begin;
    }
    for (std::int32_t i = 0; i < end - begin; ++i) {
      model.ready_order.push_back(
          ParameterId{order == "bw" ? end - 1 - i : begin + i});
    }
    end = begin;
  }
  return std::move(shape_);
}

}  // namespace paceline::plan
