// SPDX-License-Identifier: Apache-2.0
// Every network against PyTorch's Python: make_reference.py wrote the figures.
#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "networks/test_name.h"
#include "paceline/networks/batch.h"
#include "paceline/networks/network.h"
#include "paceline/networks/precision.h"

namespace paceline::networks {

void PrintTo(const NetworkInfo& info, std::ostream* out) { *out << info.name; }

namespace {

nlohmann::json references() {
  std::ifstream file(PACELINE_SOURCE_DIR "/tests/networks/reference.json");
  return nlohmann::json::parse(file);
}

nlohmann::json reference_of(std::string_view name) { return references().at(std::string(name)); }

/// Without dropout.
NetworkOptions options_of(const nlohmann::json& reference) {
  return {.image_size = reference.value("image_size", 0),
          .classes = reference.value("classes", 0),
          .sequence_length = reference.value("sequence_length", 0),
          .dropout = 0};
}

/// "name 64x3x7x7" of everything in `module`, in the order of Python's state_dict().
void list_state(const torch::nn::Module& module, const std::string& prefix,
                std::vector<std::string>& out) {
  const auto list = [&](const auto& items) {
    for (const auto& item : items) {
      const at::IntArrayRef sizes = item.value().sizes();
      out.push_back(fmt::format(
          "{}{} {}", prefix, item.key(),
          sizes.empty() ? "scalar"
                        : fmt::format("{}", fmt::join(sizes.begin(), sizes.end(), "x"))));
    }
  };
  list(module.named_parameters(/*recurse=*/false));
  list(module.named_buffers(/*recurse=*/false));
  for (const auto& child : module.named_children()) {
    list_state(*child.value(), prefix + child.key() + ".", out);
  }
}

struct Step {
  double loss = 0;
  std::vector<double> gradient_norms{};
};

Step run_step(Network& network, const Batch& batch) {
  const at::Tensor loss = network.loss(batch);
  loss.backward();
  Step step{.loss = loss.item<double>()};
  for (const at::Tensor& parameter : network.parameters()) {
    step.gradient_norms.push_back(parameter.grad().norm().item<double>());
  }
  return step;
}

/// The step that the reference describes.
Step run_reference(const NetworkInfo& info, const nlohmann::json& reference) {
  const NetworkOptions options = options_of(reference);
  const auto network = info.make(options);
  cast_network(*network, at::kDouble);
  const std::uint64_t seed = reference.at("seed");
  fill_by_formula(*network, seed);
  return run_step(*network, make_batch(info, {.batch_size = reference.at("batch_size"),
                                              .seed = seed,
                                              .dtype = at::kDouble,
                                              .network = options}));
}

void expect_close(const Step& step, const nlohmann::json& reference, double relative) {
  const double loss = reference.at("loss");
  EXPECT_NEAR(step.loss, loss, relative * loss);
  const std::vector<double> norms = reference.at("gradient_norms");
  ASSERT_EQ(step.gradient_norms.size(), norms.size());
  for (std::size_t i = 0; i < norms.size(); ++i) {
    // The bias of BERT's keys has the gradient 0 but for rounding: it shifts all scores of a query
    // alike.
    EXPECT_NEAR(step.gradient_norms[i], norms[i], relative * norms[i] + 1e-12) << "parameter " << i;
  }
}

class Reference : public testing::TestWithParam<NetworkInfo> {};

TEST_P(Reference, StateHasTheSameNamesShapesAndOrder) {
  const nlohmann::json reference = reference_of(GetParam().name);
  const NetworkOptions options = options_of(reference);
  std::vector<std::string> state;
  list_state(*GetParam().make(options), "", state);
  EXPECT_EQ(state, reference.at("state").get<std::vector<std::string>>());
}

TEST_P(Reference, LossAndGradientNormsAgree) {
  const nlohmann::json reference = reference_of(GetParam().name);
  expect_close(run_reference(GetParam(), reference), reference, 1e-8);
}

TEST_P(Reference, WeightsAndBatchHaveTheSameBits) {
  const NetworkInfo& info = GetParam();
  const nlohmann::json reference = reference_of(info.name);
  const NetworkOptions options = options_of(reference);
  const auto network = info.make(options);
  const std::uint64_t seed = reference.at("seed");
  fill_by_formula(*network, seed);
  const BatchOptions of_batch{
      .batch_size = reference.at("batch_size"), .seed = seed, .network = options};
  const Batch batch = make_batch(info, of_batch);
  EXPECT_EQ(fmt::format("{:016x}", fingerprint(batch.input)),
            reference.at("input").get<std::string>());
  EXPECT_EQ(fmt::format("{:016x}", fingerprint(batch.target)),
            reference.at("target").get<std::string>());
  EXPECT_EQ(fmt::format("{:016x}", fingerprint(network->parameters())),
            reference.at("weights").get<std::string>());
  fill_with_integers(*network, seed);
  EXPECT_EQ(fmt::format("{:016x}", fingerprint(network->parameters())),
            reference.at("integer_weights").get<std::string>());
}

// BERT-Large takes 6 GB of memory, so that `make nightly` alone has it.
std::vector<NetworkInfo> networks_of(bool nightly) {
  std::vector<NetworkInfo> all = networks();
  std::erase_if(
      all, [nightly](const NetworkInfo& info) { return (info.name == "bert-large") != nightly; });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Table, Reference, testing::ValuesIn(networks_of(/*nightly=*/false)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Nightly, Reference, testing::ValuesIn(networks_of(/*nightly=*/true)),
                         test_name);

class SweepModel : public testing::TestWithParam<const char*> {};

TEST_P(SweepModel, RunsARealStepAt224Pixels) {
  const NetworkInfo& info = find_network(GetParam());
  const auto network = make_network(info, {}, 0);
  const Step step = run_step(*network, make_batch(info, {.batch_size = 2}));
  EXPECT_TRUE(std::isfinite(step.loss));
  EXPECT_GT(step.loss, 0);
  for (const double norm : step.gradient_norms) {
    EXPECT_TRUE(std::isfinite(norm));
    EXPECT_GT(norm, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(OfTheOriginal, SweepModel,
                         testing::Values("resnet50", "resnet101", "resnext50_32x4d",
                                         "resnext101_32x8d"));

}  // namespace
}  // namespace paceline::networks
