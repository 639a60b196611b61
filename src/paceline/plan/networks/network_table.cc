// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/plan/networks/network_shape.h"

namespace paceline::plan {
namespace {

struct Row {
  std::string_view name;
  NetworkShape (*make)(const std::string& name);
};

constexpr BertOptions kBertLarge{
    .layers = 24, .hidden = 1024, .intermediate = 4096, .heads = 16};

/// Names as in the table of models with tensors; BERT for sequences of 64
/// tokens, as ddl-benchmarks runs it, and of 128, as DLPerf does.
constexpr Row kRows[] = {
    {"resnet18",
     [](const std::string& name) {
       return resnet_shape(
           name, {.block = ResNetBlock::kBasic, .depths = {2, 2, 2, 2}});
     }},
    {"resnet34",
     [](const std::string& name) {
       return resnet_shape(name, {.block = ResNetBlock::kBasic});
     }},
    {"resnet50",
     [](const std::string& name) { return resnet_shape(name, {}); }},
    {"resnet101",
     [](const std::string& name) {
       return resnet_shape(name, {.depths = {3, 4, 23, 3}});
     }},
    {"resnet152",
     [](const std::string& name) {
       return resnet_shape(name, {.depths = {3, 8, 36, 3}});
     }},
    {"resnext50_32x4d",
     [](const std::string& name) {
       return resnet_shape(name, {.groups = 32, .width_per_group = 4});
     }},
    {"resnext101_32x8d",
     [](const std::string& name) {
       return resnet_shape(
           name, {.depths = {3, 4, 23, 3}, .groups = 32, .width_per_group = 8});
     }},
    {"vgg16", [](const std::string&) { return vgg16_shape(); }},
    {"lenet", [](const std::string&) { return lenet_shape(); }},
    {"mlp", [](const std::string& name) { return mlp_shape(name, 512, 10); }},
    {"mlp-large",
     [](const std::string& name) { return mlp_shape(name, 3072, 1000); }},
    {"bert-base", [](const std::string& name) { return bert_shape(name, {}); }},
    {"bert-base-30522",
     [](const std::string& name) {
       return bert_shape(name, {.vocabulary = 30522, .sequence_length = 128});
     }},
    {"bert-large",
     [](const std::string& name) { return bert_shape(name, kBertLarge); }},
};

}  // namespace

NetworkShape network_shape(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) {
      return row.make(std::string(name));
    }
  }
  throw UsageError(fmt::format("no shape of a network '{}'; known are {}",
                               name,
                               fmt::join(network_names(), ", ")));
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) {
    names.emplace_back(row.name);
  }
  return names;
}

}  // namespace paceline::plan
