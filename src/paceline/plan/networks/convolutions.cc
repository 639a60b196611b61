// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "paceline/plan/networks/layers.h"
#include "paceline/plan/networks/shape_builder.h"

namespace paceline::plan {
namespace {

/// Padded to half the window, so that stride alone changes the side.
Feature after(const Feature& in, int channels, const Window& window) {
  return {.channels = channels,
          .side = (in.side + window.stride - 1) / window.stride};
}

struct NormalizedNames {
  std::string convolution, norm;
};

Feature normalized_convolution(ShapeBuilder& builder,
                               const NormalizedNames& names,
                               const Feature& in,
                               int channels,
                               const Window& window) {
  const Feature out = after(in, channels, window);
  builder.add(
      names.convolution,
      convolution(in, out, window),
      {channels, in.channels / window.groups, window.kernel, window.kernel});
  builder.add(names.norm, normalization(out), {channels}, {channels});
  return out;
}

struct Block {
  std::string name;
  int width = 0;     // inside
  int channels = 0;  // that it gives
  int stride = 1;
  int groups = 1;

  std::string part(const char* what) const { return name + "." + what; }
};

/// The projection of the identity where its shape changes, the sum and ReLU.
void add_identity(ShapeBuilder& builder,
                  const Block& block,
                  const Feature& in,
                  const Feature& out) {
  if (block.stride != 1 || in.channels != block.channels) {
    normalized_convolution(
        builder,
        {block.part("downsample.0"), block.part("downsample.1")},
        in,
        block.channels,
        {.kernel = 1, .stride = block.stride, .groups = 1});
  }
  elementwise(builder, out, 3);  // adds the identity
  elementwise(builder, out, 2);
}

Feature add_basic(ShapeBuilder& builder,
                  const Block& block,
                  const Feature& in) {
  Feature at = normalized_convolution(
      builder,
      {block.part("conv1"), block.part("bn1")},
      in,
      block.channels,
      {.kernel = 3, .stride = block.stride, .groups = 1});
  elementwise(builder, at, 2);
  at = normalized_convolution(builder,
                              {block.part("conv2"), block.part("bn2")},
                              at,
                              block.channels,
                              {.kernel = 3, .stride = 1, .groups = 1});
  add_identity(builder, block, in, at);
  builder.call(2);  // ReLU
  return at;
}

Feature add_bottleneck(ShapeBuilder& builder,
                       const Block& block,
                       const Feature& in) {
  Feature at = normalized_convolution(
      builder, {block.part("conv1"), block.part("bn1")}, in, block.width, {});
  elementwise(builder, at, 2);
  at = normalized_convolution(
      builder,
      {block.part("conv2"), block.part("bn2")},
      at,
      block.width,
      {.kernel = 3, .stride = block.stride, .groups = block.groups});
  elementwise(builder, at, 2);
  at = normalized_convolution(builder,
                              {block.part("conv3"), block.part("bn3")},
                              at,
                              block.channels,
                              {});
  add_identity(builder, block, in, at);
  builder.call(3);  // ReLU
  return at;
}

}  // namespace

NetworkShape resnet_shape(std::string name, const ResNetOptions& options) {
  ShapeBuilder builder(std::move(name));
  const Feature image{.channels = 3, .side = options.image_size};
  Feature at = normalized_convolution(builder,
                                      {"conv1", "bn1"},
                                      image,
                                      64,
                                      {.kernel = 7, .stride = 2, .groups = 1});
  elementwise(builder, at, 2);
  elementwise(builder, at, 1.25);  // max pooling, 3x3 with stride 2
  builder.call(2);
  at.side = (at.side + 1) / 2;
  int planes = 64;
  for (std::size_t stage = 0; stage < options.depths.size(); ++stage) {
    for (int block = 0; block < options.depths[stage]; ++block) {
      const bool basic = options.block == ResNetBlock::kBasic;
      const Block shape{
          .name = fmt::format("layer{}.{}", stage + 1, block),
          .width = planes * options.width_per_group / 64 * options.groups,
          .channels = planes * (basic ? 1 : 4),
          .stride = stage > 0 && block == 0 ? 2 : 1,
          .groups = options.groups};
      at = basic ? add_basic(builder, shape, at)
                 : add_bottleneck(builder, shape, at);
    }
    planes *= 2;
  }
  elementwise(builder, at, 1);  // averages each channel
  builder.call(1);
  builder.add("fc",
              linear(at.channels, options.classes),
              {options.classes, at.channels},
              {options.classes});
  return builder.finish("bw");
}

NetworkShape vgg16_shape(int image_size, int classes) {
  ShapeBuilder builder("vgg16");
  Feature at{.channels = 3, .side = image_size};
  int index = 0;  // in torchvision's `features`, ReLU and pooling included
  for (const auto& [convolutions, channels] :
       {std::pair{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}}) {
    for (int i = 0; i < convolutions; ++i) {
      const Window window{.kernel = 3, .stride = 1, .groups = 1};
      const Feature out = after(at, channels, window);
      builder.add(fmt::format("features.{}", index),
                  convolution(at, out, window),
                  {channels, at.channels, 3, 3},
                  {channels});
      elementwise(builder, out, 2);
      builder.call(1);
      at = out;
      index += 2;
    }
    elementwise(builder, at, 1.25);  // max pooling, 2x2
    builder.call(1);
    at.side /= 2;
    ++index;
  }
  const int flat = at.channels * at.side * at.side;
  const int hidden = 4096;
  builder.call(5);  // averaging, and ReLU and dropout of two hidden layers
  builder.add("classifier.0", linear(flat, hidden), {hidden, flat}, {hidden});
  builder.add(
      "classifier.3", linear(hidden, hidden), {hidden, hidden}, {hidden});
  builder.add(
      "classifier.6", linear(hidden, classes), {classes, hidden}, {classes});
  return builder.finish("bw");
}

}  // namespace paceline::plan
