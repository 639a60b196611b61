// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/networks/families.h"

namespace paceline::networks {
namespace {

constexpr ImageSample kImageNet{.side = 224, .channels = 3, .classes = 1000, .least_side = 32};

constexpr ImageSample kEmbeddingBagsSample{.side = 0, .channels = 0, .classes = 8};
// The 13 numeric features of a line of Criteo's logs, beside the ids.
constexpr ImageSample kClickSample{.side = 0, .channels = 13, .classes = 2};
constexpr TextSample kText{.tokens = 64};
constexpr TextSample kLongText{.tokens = 128};

void reject_negative(const NetworkOptions& options) {
  for (const auto& [name, value] :
       {std::pair{"image size", options.image_size}, std::pair{"classes", options.classes},
        std::pair{"sequence length", options.sequence_length}}) {
    if (value < 0) {
      throw UsageError(
          fmt::format("{} {} must be positive, or 0 for the network's own", name, value));
    }
  }
}

int option_or_default(int option, int own) { return option == 0 ? own : option; }

ImageSample with_defaults(const ImageSample& own, const NetworkOptions& options) {
  reject_negative(options);
  if (options.sequence_length > 0) {
    throw UsageError(
        fmt::format("--sequence-length {} is for networks that read text; this one reads images "
                    "(--image-size, --classes)",
                    options.sequence_length));
  }
  return {.side = option_or_default(options.image_size, own.side),
          .channels = own.channels,
          .classes = option_or_default(options.classes, own.classes),
          .least_side = own.least_side};
}

TextSample with_defaults(const TextSample& own, const NetworkOptions& options) {
  reject_negative(options);
  if (options.image_size > 0 || options.classes > 0) {
    throw UsageError(
        fmt::format("{} is for networks that read images; this one reads text (--sequence-length)",
                    options.image_size > 0 ? fmt::format("--image-size {}", options.image_size)
                                           : fmt::format("--classes {}", options.classes)));
  }
  return {.tokens = option_or_default(options.sequence_length, own.tokens),
          .vocabulary = own.vocabulary};
}

template <int width>
std::shared_ptr<Network> mlp(const NetworkOptions& options) {
  return make_mlp(1, width, options);
}

template <BlockKind block, int one, int two, int three, int four, int groups = 1,
          int width_per_group = 64>
std::shared_ptr<Network> residual(const NetworkOptions& options) {
  return make_resnet({.block = block,
                      .depths = {one, two, three, four},
                      .groups = groups,
                      .width_per_group = width_per_group},
                     options);
}

template <int hidden, int layers, int heads>
std::shared_ptr<Network> bert(const NetworkOptions& options) {
  return make_bert({.hidden = hidden, .layers = layers, .heads = heads, .intermediate = 4 * hidden},
                   options);
}

NetworkInfo imagenet_row(std::string_view name, std::string_view summary,
                         std::shared_ptr<Network> (*build)(const NetworkOptions&)) {
  return {.name = name, .summary = summary, .sample = kImageNet, .build = build};
}

}  // namespace

const std::vector<NetworkInfo>& networks() {
  static const std::vector<NetworkInfo> table{
      imagenet_row("resnet18", "residual network, basic blocks",
                   residual<BlockKind::kBasic, 2, 2, 2, 2>),
      imagenet_row("resnet34", "residual network, basic blocks",
                   residual<BlockKind::kBasic, 3, 4, 6, 3>),
      imagenet_row("resnet50", "residual network v1.5, bottlenecks",
                   residual<BlockKind::kBottleneck, 3, 4, 6, 3>),
      imagenet_row("resnet101", "residual network v1.5, bottlenecks",
                   residual<BlockKind::kBottleneck, 3, 4, 23, 3>),
      imagenet_row("resnet152", "residual network v1.5, bottlenecks",
                   residual<BlockKind::kBottleneck, 3, 8, 36, 3>),
      imagenet_row("resnext50_32x4d", "ResNeXt, 32 groups of width 4",
                   residual<BlockKind::kBottleneck, 3, 4, 6, 3, 32, 4>),
      imagenet_row("resnext101_32x8d", "ResNeXt, 32 groups of width 8",
                   residual<BlockKind::kBottleneck, 3, 4, 23, 3, 32, 8>),
      imagenet_row("vgg16", "13 convolutions, 3 linear layers, dropout", make_vgg16),
      {.name = "lenet",
       .summary = "LeNet-5 with ReLU and max pooling, no batch norm",
       .sample = ImageSample{.side = 32, .channels = 1, .classes = 10, .least_side = 16},
       .build = make_lenet},
      {.name = "linear",
       .summary = "one layer; with one class a regression",
       .sample = ImageSample{.side = 32, .channels = 1, .classes = 10},
       .build = [](const NetworkOptions& options) { return make_linear(1, options); }},
      {.name = "mlp",
       .summary = "3 hidden layers of 512, no batch norm",
       .sample = ImageSample{.side = 32, .channels = 1, .classes = 10},
       .build = mlp<512>},
      {.name = "mlp-large",
       .summary = "3 hidden layers of 3072, no batch norm",
       .sample = ImageSample{.side = 32, .channels = 1, .classes = 1000},
       .build = mlp<3072>},
      {.name = "bert-base",
       .summary = "BERT, 12 layers of 768, masked words and next sentence",
       .sample = kText,
       .build = bert<768, 12, 12>},
      {.name = "bert-large",
       .summary = "BERT, 24 layers of 1024, masked words and next sentence",
       .sample = kText,
       .build = bert<1024, 24, 16>},
      {.name = "bert-tiny",
       .summary = "BERT, 2 layers of 128, for trials",
       .sample = kText,
       .build = bert<128, 2, 2>},
      {.name = "bert-base-30522",
       .summary = "bert-base with the vocabulary not padded, sequences of 128",
       .sample = kLongText,
       .build =
           [](const NetworkOptions& options) { return make_bert({.vocabulary = 30522}, options); }},
  };
  return table;
}

SampleShape sample_of(const NetworkInfo& info, const NetworkOptions& options) {
  return std::visit([&](const auto& own) -> SampleShape { return with_defaults(own, options); },
                    info.sample);
}

std::shared_ptr<Network> NetworkInfo::make(NetworkOptions options) const {
  const SampleShape completed = sample_of(*this, options);
  if (const auto* image = std::get_if<ImageSample>(&completed)) {
    if (image->side < image->least_side) {
      throw UsageError(fmt::format("image size {} is too small for {}: {} or more is needed",
                                   image->side, name, image->least_side));
    }
    options.image_size = image->side;
    options.classes = image->classes;
  } else {
    options.sequence_length = std::get<TextSample>(completed).tokens;
  }
  return build(options);
}

const std::vector<NetworkInfo>& embedding_networks() {
  static const std::vector<NetworkInfo> table{
      {.name = "hybrid",
       .summary = "embedding bags on servers, 5 linear layers: the DDP and RPC benchmark's",
       .sample = kEmbeddingBagsSample,
       .build = make_hybrid},
      {.name = "dlrm",
       .summary = "DLRM: embedding rows on servers, bottom and top layers with the dot products of "
                  "all pairs; synthetic clicks",
       .sample = kClickSample,
       .build = [](const NetworkOptions& options) {
         return make_dlrm(kClickSample.channels, options);
       }}};
  return table;
}

bool reads_text(std::string_view name) {
  return std::ranges::any_of(networks(), [&](const NetworkInfo& info) {
    return info.name == name && std::holds_alternative<TextSample>(info.sample);
  });
}

const NetworkInfo& find_network(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto* table : {&networks(), &embedding_networks()}) {
    const auto row = std::ranges::find(*table, name, &NetworkInfo::name);
    if (row != table->end()) {
      return *row;
    }
    for (const NetworkInfo& info : *table) {
      known.push_back(info.name);
    }
  }
  throw UsageError(fmt::format("unknown model '{}'; known are {}", name, fmt::join(known, ", ")));
}

}  // namespace paceline::networks
