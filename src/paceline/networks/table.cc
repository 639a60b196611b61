// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/networks/families.h"

namespace paceline::networks {
namespace {

constexpr int kImageNetSide = 224;
constexpr int kImageNetClasses = 1000;
constexpr int kDigitSide = 32;
constexpr int kDigitClasses = 10;
constexpr int kMlpWidth = 512;
constexpr int kMlpLargeWidth = 3072;

NetworkOptions complete(NetworkOptions options, int image_size, int classes) {
  if (options.image_size < 0 || options.classes < 0) {
    throw UsageError(fmt::format(
        "image size {} and classes {} must be positive, or 0 for the "
        "network's own",
        options.image_size,
        options.classes));
  }
  if (options.image_size == 0) {
    options.image_size = image_size;
  }
  if (options.classes == 0) {
    options.classes = classes;
  }
  return options;
}

NetworkOptions imagenet(const NetworkOptions& options) {
  return complete(options, kImageNetSide, kImageNetClasses);
}

NetworkOptions digits(const NetworkOptions& options, int classes) {
  return complete(options, kDigitSide, classes);
}

template <int width, int classes>
std::shared_ptr<Network> mlp(const NetworkOptions& options) {
  return make_mlp(1, width, digits(options, classes));
}

template <Block block,
          int one,
          int two,
          int three,
          int four,
          int groups = 1,
          int width_per_group = 64>
std::shared_ptr<Network> residual(const NetworkOptions& options) {
  return make_resnet({.block = block,
                      .depths = {one, two, three, four},
                      .groups = groups,
                      .width_per_group = width_per_group},
                     imagenet(options));
}

NetworkInfo imagenet_row(
    std::string_view name,
    std::string_view summary,
    std::shared_ptr<Network> (*make)(const NetworkOptions&)) {
  return {.name = name,
          .summary = summary,
          .image_size = kImageNetSide,
          .channels = 3,
          .classes = kImageNetClasses,
          .make = make};
}

NetworkInfo digits_row(
    std::string_view name,
    std::string_view summary,
    int classes,
    std::shared_ptr<Network> (*make)(const NetworkOptions&)) {
  return {.name = name,
          .summary = summary,
          .image_size = kDigitSide,
          .channels = 1,
          .classes = classes,
          .make = make};
}

std::vector<NetworkInfo> make_table() {
  return {
      imagenet_row("resnet18",
                   "residual network, basic blocks",
                   residual<Block::kBasic, 2, 2, 2, 2>),
      imagenet_row("resnet34",
                   "residual network, basic blocks",
                   residual<Block::kBasic, 3, 4, 6, 3>),
      imagenet_row("resnet50",
                   "residual network v1.5, bottlenecks",
                   residual<Block::kBottleneck, 3, 4, 6, 3>),
      imagenet_row("resnet101",
                   "residual network v1.5, bottlenecks",
                   residual<Block::kBottleneck, 3, 4, 23, 3>),
      imagenet_row("resnet152",
                   "residual network v1.5, bottlenecks",
                   residual<Block::kBottleneck, 3, 8, 36, 3>),
      imagenet_row("resnext50_32x4d",
                   "ResNeXt, 32 groups of width 4",
                   residual<Block::kBottleneck, 3, 4, 6, 3, 32, 4>),
      imagenet_row("resnext101_32x8d",
                   "ResNeXt, 32 groups of width 8",
                   residual<Block::kBottleneck, 3, 4, 23, 3, 32, 8>),
      imagenet_row("vgg16",
                   "13 convolutions, 3 linear layers, dropout",
                   [](const NetworkOptions& options) {
                     return make_vgg16(imagenet(options));
                   }),
      digits_row("lenet",
                 "LeNet-5 with ReLU and max pooling, no batch norm",
                 kDigitClasses,
                 [](const NetworkOptions& options) {
                   return make_lenet(digits(options, kDigitClasses));
                 }),
      digits_row("mlp",
                 "3 hidden layers of 512, no batch norm",
                 kDigitClasses,
                 mlp<kMlpWidth, kDigitClasses>),
      digits_row("mlp-large",
                 "3 hidden layers of 3072, no batch norm",
                 kImageNetClasses,
                 mlp<kMlpLargeWidth, kImageNetClasses>),
  };
}

}  // namespace

const std::vector<NetworkInfo>& networks() {
  static const std::vector<NetworkInfo> table = make_table();
  return table;
}

const NetworkInfo& find_network(std::string_view name) {
  const auto& table = networks();
  const auto row = std::ranges::find(table, name, &NetworkInfo::name);
  if (row == table.end()) {
    std::vector<std::string_view> known;
    for (const NetworkInfo& info : table) {
      known.push_back(info.name);
    }
    throw UsageError(fmt::format(
        "unknown model '{}'; known are {}", name, fmt::join(known, ", ")));
  }
  return *row;
}

}  // namespace paceline::networks
