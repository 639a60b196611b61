// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "paceline/plan/optimizer.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime {
namespace {

constexpr std::array kDivisors{3.0};

// Values, gradients and two state buffers, never the same twice within one.
std::vector<at::Tensor> operands(std::int64_t elements) {
  const auto line = at::arange(elements, at::kFloat);
  return {(line * 0.37F).sin(), (line * 0.91F).cos(), (line * 0.13F).sin().square() * 0.1F,
          (line * 0.29F).cos().square()};
}

// Updates the elements [begin, begin + count) of what `whole` holds, in place.
void update(const OptimizerSettings& rule, const std::vector<at::Tensor>& whole, std::int64_t begin,
            std::int64_t count) {
  const auto states = plan::state_names(plan::shape_of(rule.name)).size();
  Call call;
  call.written = {plan::BufferId{0}, begin, count};
  call.numbers = kDivisors;
  for (std::size_t b = 0; b < 2 + states; ++b) {
    call.reads.push_back({whole[b].narrow(0, begin, count)});
  }
  call.writes = call.reads;
  call.reads.push_back({at::full({1}, 0.01F)});
  if (plan::optimizer_named(rule.name).counts_steps) {
    call.reads.push_back({at::full({1}, 2.0F)});
  }
  run_update(rule, call);
}

// PyTorch's kernels round the elements that fill no vector otherwise (they fuse no multiplication
// with an addition there), so slices begin at whole vectors.
TEST(UpdateSlices, SlicesOfWholeVectorsEqualTheWholeBitForBit) {
  constexpr std::int64_t kElements = 1003;  // the last vector is not full
  for (const std::string& name : plan::optimizer_names()) {
    const OptimizerSettings rule{.name = name};
    const auto start = operands(kElements);
    auto whole = operands(kElements);
    auto parts = operands(kElements);
    update(rule, whole, 0, kElements);
    std::int64_t begin = 0;
    for (const std::int64_t count : {16, 64, 448, 475}) {
      update(rule, parts, begin, count);
      begin += count;
    }
    ASSERT_EQ(begin, kElements);
    EXPECT_FALSE(at::equal(whole[0], start[0])) << name << " changed nothing";
    for (std::size_t b = 0; b < whole.size(); ++b) {
      EXPECT_TRUE(at::equal(whole[b], parts[b])) << name << ", buffer " << b;
    }
  }
}

OptimizerSettings of(OptimizerSettings group, std::vector<plan::Slice> slices) {
  group.slices = std::move(slices);
  return group;
}

// One slice over parameters with weight decay and without, cut by the runtime, is what separate
// updates with and without it are.
TEST(UpdateSlices, ParametersWithoutWeightDecayKeepTheirs) {
  const OptimizerSettings decayed{.name = "adamw", .weight_decay = 0.5};
  const OptimizerSettings plain{.name = "adamw", .weight_decay = 0};
  OptimizerSettings mixed = decayed;
  mixed.groups = {of(plain, {{plan::BufferId{0}, 64, 48}, {plan::BufferId{0}, 112, 16}})};
  auto whole = operands(256);
  auto parts = operands(256);
  update(mixed, whole, 0, 32);
  update(mixed, whole, 32, 224);
  update(decayed, parts, 0, 32);
  update(decayed, parts, 32, 32);
  update(plain, parts, 64, 64);
  update(decayed, parts, 128, 128);
  for (std::size_t b = 0; b < whole.size(); ++b) {
    EXPECT_TRUE(at::equal(whole[b], parts[b])) << "buffer " << b;
  }
  auto all_decayed = operands(256);
  update(decayed, all_decayed, 0, 256);
  EXPECT_FALSE(at::equal(whole[0], all_decayed[0]));
}

// Where gradients are no flat buffer, a call has one tensor per parameter.
TEST(UpdateSlices, TensorsOfAGroupHaveItsSettings) {
  const OptimizerSettings plain{.name = "adamw", .weight_decay = 0};
  const OptimizerSettings rule{
      .name = "adamw", .weight_decay = 0.5, .groups = {of(plain, {{plan::BufferId{0}, 6, 3}})}};
  Call call;
  call.numbers = kDivisors;
  call.written = {plan::BufferId{0}, 0, 9};
  const at::Tensor values = at::ones({9});
  const at::Tensor matrix = values.narrow(0, 0, 6).view({2, 3});
  const at::Tensor bias = values.narrow(0, 6, 3);
  call.reads.push_back({matrix, bias});
  for (int buffer = 0; buffer < 3; ++buffer) {  // no gradient, no state
    call.reads.push_back({at::zeros({2, 3}), at::zeros({3})});
  }
  call.writes = call.reads;
  call.reads.push_back({at::full({1}, 0.1F)});
  call.reads.push_back({at::full({1}, 1.0F)});
  run_update(rule, call);
  EXPECT_TRUE(at::allclose(matrix, at::full({2, 3}, 0.95)));
  EXPECT_TRUE(at::equal(bias, at::ones({3})));
}

// Each group has a rate, decay rates and momentum of its own, and so has what lies in none.
TEST(UpdateSlices, GroupsHaveConstantsOfTheirOwn) {
  const OptimizerSettings rest{.name = "adam", .rate = 0.03};
  const OptimizerSettings first{.name = "adam", .weight_decay = 0, .decay_rates = {{0.5, 0.75}}};
  const OptimizerSettings second{.name = "adam", .rate = 0.5, .epsilon = 0.1};
  OptimizerSettings all = rest;
  all.groups = {of(first, {{plan::BufferId{0}, 16, 16}, {plan::BufferId{0}, 96, 32}}),
                of(second, {{plan::BufferId{0}, 32, 32}})};
  auto whole = operands(256);
  auto parts = operands(256);
  update(all, whole, 0, 256);
  update(rest, parts, 0, 16);
  update(first, parts, 16, 16);
  update(second, parts, 32, 32);
  update(rest, parts, 64, 32);
  update(first, parts, 96, 32);
  update(rest, parts, 128, 128);
  for (std::size_t b = 0; b < whole.size(); ++b) {
    EXPECT_TRUE(at::equal(whole[b], parts[b])) << "buffer " << b;
  }
}

TEST(UpdateSlices, AnUpdateOfAnotherOptimizerLeavesTheMean) {
  const auto start = operands(64);
  auto whole = operands(64);
  update({.name = "sgd", .updates = false}, whole, 0, 64);
  EXPECT_TRUE(at::equal(whole[0], start[0]));
  EXPECT_TRUE(at::equal(whole[1], start[1] / 3.0F));
}

TEST(UpdateSlices, CountAddsOne) {
  const at::Tensor counter = at::full({1}, 41.0F);
  Call call;
  call.reads = {{counter}};
  call.writes = {{counter}};
  run_count({}, call);
  EXPECT_EQ(counter.item<float>(), 42.0F);
}

}  // namespace
}  // namespace paceline::runtime
