// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/networks/network_shape.h"

namespace paceline::plan {
namespace {

struct Published {
  std::string model;
  std::int64_t parameters = 0, bytes = 0, tensors = 0, largest = 0, small = 0;
};

std::vector<Published> published_models() {
  std::ifstream file(PACELINE_SOURCE_DIR "/reference/models.csv");
  std::vector<Published> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    Published row;
    std::getline(fields, row.model, ',');
    char comma = 0;
    fields >> row.parameters >> comma >> row.bytes >> comma >> row.tensors >> comma >>
        row.largest >> comma >> row.small;
    EXPECT_TRUE(fields) << line;
    rows.push_back(row);
  }
  return rows;
}

Published counts(const std::string& model, const NetworkShape& shape) {
  Published row{.model = model, .parameters = shape.model.elements(), .bytes = shape.model.bytes()};
  for (const ParameterShape& parameter : shape.model.parameters) {
    ++row.tensors;
    row.largest = std::max(row.largest, parameter.elements);
    row.small += parameter.elements < 8192 ? 1 : 0;
  }
  return row;
}

std::int64_t elements_of(const std::string& name) {
  return counts(name, network_shape(name)).parameters;
}

/// Of one sample's forward pass.
double flops_of(const std::string& name) {
  double flops = 0;
  for (const LayerWork& layer : network_shape(name).work) {
    flops += layer.flops;
  }
  return flops;
}

const std::vector<std::pair<std::string, std::string>> kPublishedNames{
    {"ResNet-50", "resnet50"},
    {"ResNet-101", "resnet101"},
    {"ResNeXt-50-32x4d", "resnext50_32x4d"},
    {"ResNeXt-101-32x8d", "resnext101_32x8d"},
    {"BERT-Base", "bert-base"},
    {"BERT-Large", "bert-large"},
    {"BERT-Base-30522", "bert-base-30522"}};

/// Counted by hand in torchvision's and NVIDIA's sources.
TEST(Networks, CallModulesAsOftenAsPyTorch) {
  EXPECT_EQ(network_shape("resnet18").leaf_calls, 41 + 17 + 2);
  EXPECT_EQ(network_shape("resnet50").leaf_calls, 107 + 49 + 2);
  EXPECT_EQ(network_shape("resnet101").leaf_calls, 209 + 100 + 2);
  EXPECT_EQ(network_shape("vgg16").leaf_calls, 16 + 15 + 2 + 6);
  EXPECT_EQ(network_shape("bert-base").leaf_calls, 105 + 37 + 1);
  EXPECT_EQ(network_shape("bert-large").leaf_calls, 201 + 73 + 1);
}

TEST(Networks, HaveThePublishedCounts) {
  const std::vector<Published> rows = published_models();
  for (const auto& [published, name] : kPublishedNames) {
    SCOPED_TRACE(published);
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const Published& r) { return r.model == published; });
    ASSERT_NE(row, rows.end());
    const Published ours = counts(published, network_shape(name));
    EXPECT_EQ(ours.parameters, row->parameters);
    EXPECT_EQ(ours.bytes, row->bytes);
    EXPECT_EQ(ours.tensors, row->tensors);
    EXPECT_EQ(ours.largest, row->largest);
    EXPECT_EQ(ours.small, row->small);
  }
}

// docs of the survey: modules that own parameters, and the other networks.
TEST(Networks, HaveTheModulesThatOwnParameters) {
  EXPECT_EQ(network_shape("resnet18").model.modules.size(), 41U);
  EXPECT_EQ(elements_of("resnet18"), 11'689'512);
  EXPECT_EQ(network_shape("resnet34").model.modules.size(), 73U);
  EXPECT_EQ(elements_of("resnet34"), 21'797'672);
  EXPECT_EQ(elements_of("lenet"), 61'706);
  EXPECT_EQ(elements_of("mlp"), 1'055'242);
  EXPECT_EQ(elements_of("mlp-large"), 25'102'312);
  EXPECT_EQ(network_shape("resnet50").model.modules.size(), 107U);
  EXPECT_EQ(network_shape("resnet101").model.modules.size(), 209U);
  EXPECT_EQ(network_shape("resnet152").model.modules.size(), 311U);
  EXPECT_EQ(elements_of("resnet152"), 60'192'808);
  EXPECT_EQ(network_shape("vgg16").model.modules.size(), 16U);
  EXPECT_EQ(elements_of("vgg16"), 138'357'544);
  EXPECT_EQ(network_shape("bert-base").model.modules.size(), 105U);
  EXPECT_EQ(network_shape("bert-large").model.modules.size(), 201U);
}

// Known to a per cent: 1.81, 4.09 and 15.5 billion multiply-adds of ImageNet networks; BERT's
// linear layers have 2 operations a weight and token.
TEST(Networks, HaveTheKnownArithmetic) {
  EXPECT_NEAR(flops_of("resnet18"), 2 * 1.81e9, 0.1e9);
  EXPECT_NEAR(flops_of("resnet34"), 2 * 3.66e9, 0.1e9);
  EXPECT_NEAR(flops_of("resnet50"), 2 * 4.09e9, 0.2e9);
  EXPECT_NEAR(flops_of("resnext101_32x8d"), 2 * 16.4e9, 0.5e9);
  EXPECT_NEAR(flops_of("vgg16"), 2 * 15.47e9, 0.2e9);
  EXPECT_NEAR(flops_of("bert-base"), 2 * 64 * (85.1e6 + 23.4e6 + 0.6e6), 0.03e10);
}

TEST(Networks, NameWhatTheStateDictNames) {
  const auto has = [](const NetworkShape& shape, std::string_view name) {
    return std::any_of(shape.model.parameters.begin(), shape.model.parameters.end(),
                       [&](const ParameterShape& parameter) { return parameter.name == name; });
  };
  EXPECT_TRUE(has(network_shape("resnet50"), "layer4.0.downsample.1.bias"));
  EXPECT_TRUE(has(network_shape("vgg16"), "features.28.weight"));
  const NetworkShape bert = network_shape("bert-large");
  EXPECT_TRUE(has(bert, "bert.encoder.layer.23.attention.output.dense.bias"));
  EXPECT_TRUE(has(bert, "cls.predictions.bias"));
  EXPECT_FALSE(has(bert, "cls.predictions.decoder.weight"));
}

TEST(Networks, AreConsistent) {
  for (const std::string& name : network_names()) {
    SCOPED_TRACE(name);
    const NetworkShape shape = network_shape(name);
    EXPECT_EQ(shape.model.name, name);
    EXPECT_EQ(shape.work.size(), shape.model.modules.size());
    std::set<ParameterId> ready(shape.model.ready_order.begin(), shape.model.ready_order.end());
    EXPECT_EQ(ready.size(), shape.model.parameters.size());
    EXPECT_EQ(shape.model.ready_order.size(), shape.model.parameters.size());
    std::set<std::string> names;
    std::set<ModuleId> modules;
    for (const ParameterShape& parameter : shape.model.parameters) {
      names.insert(parameter.name);
      modules.insert(parameter.module);
    }
    EXPECT_EQ(names.size(), shape.model.parameters.size());
    EXPECT_EQ(modules.size(), shape.model.modules.size());
    EXPECT_EQ(shape.model.parameters[index_of(shape.model.ready_order.back())].module, ModuleId{0});
  }
}

TEST(Networks, RejectAnUnknownName) { EXPECT_THROW(network_shape("gpt"), UsageError); }

}  // namespace
}  // namespace paceline::plan
