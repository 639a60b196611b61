// SPDX-License-Identifier: Apache-2.0
// Networks without batch norm for images of digits.
#include <string>

#include <fmt/format.h>

#include "paceline/plan/networks/layers.h"
#include "paceline/plan/networks/shape_builder.h"

namespace paceline::plan {
namespace {

constexpr int kDigitSide = 32;

}  // namespace

NetworkShape lenet_shape(int classes) {
  ShapeBuilder builder("lenet");
  Feature at{.channels = 1, .side = kDigitSide};
  for (const auto& [name, channels] :
       {std::pair{"conv1", 6}, std::pair{"conv2", 16}}) {
    constexpr Window kWindow{.kernel = 5, .stride = 1, .groups = 1};
    const Feature out{.channels = channels, .side = at.side - 4};
    builder.add(name,
                convolution(at, out, kWindow),
                {channels, at.channels, 5, 5},
                {channels});
    elementwise(builder, out, 2);
    elementwise(builder, out, 1.25);  // max pooling, 2x2
    builder.call(2);
    at = {.channels = channels, .side = out.side / 2};
  }
  int in = at.channels * at.side * at.side;
  for (const auto& [name, out] : {std::pair{"fc1", 120},
                                  std::pair{"fc2", 84},
                                  std::pair{"fc3", classes}}) {
    builder.add(name, linear(in, out), {out, in}, {out});
    in = out;
  }
  builder.call(2);  // ReLU
  return builder.finish("bw");
}

NetworkShape mlp_shape(std::string name, int width, int classes) {
  ShapeBuilder builder(std::move(name));
  int in = kDigitSide * kDigitSide;
  for (int layer = 1; layer <= 4; ++layer) {
    const int out = layer == 4 ? classes : width;
    builder.add(fmt::format("fc{}", layer), linear(in, out), {out, in}, {out});
    in = out;
  }
  builder.call(3);  // ReLU
  return builder.finish("bw");
}

}  // namespace paceline::plan
