// SPDX-License-Identifier: Apache-2.0
// Optimizers that scale each parameter's step by norms over all of its elements, against their
// formulas in plain loops over doubles.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include "paceline/plan/optimizer.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"

namespace paceline::runtime::layerwise {
namespace {

constexpr double kRate = 0.25, kDecay = 0.125, kMomentum = 0.75, kDivisor = 4;
constexpr int kSteps = 4;

using Numbers = std::vector<double>;

struct Parameter {
  std::int64_t begin = 0, count = 0;
  bool matrix = true;
};

// Two matrices, a bias, padding between and behind, and a matrix of several chunks.
constexpr std::int64_t kElements = 64 + 70'000;
const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> all{{0, 12}, {16, 7, false}, {32, 20}, {64, 69'990}};
  return all;
}

double norm(const Numbers& x) {
  double squares = 0;
  for (const double value : x) {
    squares += value * value;
  }
  return std::sqrt(squares);
}

// One parameter and its state.
struct Reference {
  Numbers w, s, t;

  void lamb(const Numbers& g, int step, double decay, bool scales) {
    Numbers u(w.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      s[i] = 0.9 * s[i] + (1 - 0.9) * g[i];
      t[i] = 0.999 * t[i] + (1 - 0.999) * g[i] * g[i];
      const double m = s[i] / (1 - std::pow(0.9, step));
      const double v = t[i] / (1 - std::pow(0.999, step));
      u[i] = m / (std::sqrt(v) + 1e-6) + decay * w[i];
    }
    const double scale = scales && norm(w) > 0 && norm(u) > 0 ? norm(w) / norm(u) : 1;
    for (std::size_t i = 0; i < w.size(); ++i) {
      w[i] -= kRate * scale * u[i];
    }
  }

  void lars(const Numbers& g, double decay, bool scales) {
    const double scale =
        scales && norm(w) > 0 && norm(g) > 0 ? 0.001 * norm(w) / (norm(g) + decay * norm(w)) : 1;
    for (std::size_t i = 0; i < w.size(); ++i) {
      s[i] = kMomentum * s[i] + scale * (g[i] + decay * w[i]);
      w[i] -= kRate * s[i];
    }
  }

  void step(std::string_view optimizer, const Numbers& g, int step, bool matrix) {
    if (optimizer == "lamb") {
      lamb(g, step, matrix ? kDecay : 0, matrix);
    } else {
      lars(g, matrix ? kDecay : 0, matrix);
    }
  }
};

OptimizerSettings settings_of(const std::string& optimizer) {
  OptimizerSettings rule{.name = optimizer, .momentum = kMomentum, .weight_decay = 0};
  OptimizerSettings matrices = rule;
  matrices.weight_decay = kDecay;
  matrices.layerwise = true;
  for (const Parameter& one : parameters()) {
    if (one.matrix) {
      matrices.slices.push_back({plan::BufferId{0}, one.begin, one.count});
    }
  }
  rule.groups.push_back(matrices);
  return rule;
}

// Flat buffers of values, gradients and states; padding is zero.
struct Memory {
  explicit Memory(const std::string& optimizer) : optimizer_(optimizer) {
    const auto states = plan::state_names(plan::shape_of(optimizer)).size();
    for (std::size_t b = 0; b < 2 + states; ++b) {
      buffers.push_back(at::zeros({kElements}, at::kDouble));
    }
    for (const Parameter& one : parameters()) {
      values(one).copy_((at::arange(one.count, at::kDouble) * 0.91 + 1).cos());
    }
  }

  at::Tensor values(const Parameter& one) const {
    return buffers[0].narrow(0, one.begin, one.count);
  }
  at::Tensor gradients(const Parameter& one) const {
    return buffers[1].narrow(0, one.begin, one.count);
  }

  void draw_gradients(int step) const {
    for (const Parameter& one : parameters()) {
      gradients(one).copy_(kDivisor * (at::arange(one.count, at::kDouble) * (0.37 + step)).sin());
    }
  }

  // Of [begin, end) of the buffers.
  void update(int step, std::int64_t begin, std::int64_t end) const {
    Call call = call_of(begin, end);
    for (const at::Tensor& buffer : buffers) {
      call.reads.push_back({buffer.narrow(0, begin, end - begin)});
    }
    run(step, std::move(call));
  }

  // With one tensor for each parameter.
  void update_tensors(int step) const {
    Call call = call_of(0, kElements);
    for (const at::Tensor& buffer : buffers) {
      call.reads.emplace_back();
      for (const Parameter& one : parameters()) {
        call.reads.back().push_back(buffer.narrow(0, one.begin, one.count));
      }
    }
    run(step, std::move(call));
  }

  std::vector<at::Tensor> buffers;

 private:
  static Call call_of(std::int64_t begin, std::int64_t end) {
    static const std::vector<double> divisor{kDivisor};
    Call call;
    call.numbers = divisor;
    call.written = {plan::BufferId{0}, begin, end - begin};
    return call;
  }

  void run(int step, Call call) const {
    call.writes = call.reads;
    call.reads.push_back({at::full({1}, kRate, at::kDouble)});
    if (plan::optimizer_named(optimizer_).counts_steps) {
      call.reads.push_back({at::full({1}, static_cast<float>(step))});
    }
    run_update(settings_of(optimizer_), call);
  }

  std::string optimizer_;
};

Numbers numbers_of(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.contiguous();
  return {dense.const_data_ptr<double>(), dense.const_data_ptr<double>() + dense.numel()};
}

// The largest difference over the largest number.
double difference(const Numbers& a, const Numbers& b) {
  double most = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
    size = std::max(size, std::abs(b[i]));
  }
  return most / size;
}

class Layerwise : public ::testing::TestWithParam<std::string> {};

TEST_P(Layerwise, ScalesEachMatrixOfASliceByItself) {
  const Memory memory(GetParam());
  std::vector<Reference> expected;
  for (const Parameter& one : parameters()) {
    const auto size = static_cast<std::size_t>(one.count);
    expected.push_back({numbers_of(memory.values(one)), Numbers(size), Numbers(size)});
  }
  for (int step = 1; step <= kSteps; ++step) {
    memory.draw_gradients(step);
    std::vector<Numbers> means;
    for (const Parameter& one : parameters()) {
      means.push_back(numbers_of(memory.gradients(one) / kDivisor));
    }
    memory.update(step, 0, kElements);
    for (std::size_t p = 0; p < expected.size(); ++p) {
      const Parameter& one = parameters()[p];
      const Numbers before = expected[p].w;
      expected[p].step(GetParam(), means[p], step, one.matrix);
      EXPECT_LT(difference(numbers_of(memory.values(one)), expected[p].w), 1e-14)
          << "parameter " << p << ", step " << step;
      EXPECT_GT(difference(before, expected[p].w), 1e-5) << "parameter " << p << ", step " << step;
    }
  }
  for (const at::Tensor& buffer : memory.buffers) {
    EXPECT_EQ(buffer.narrow(0, 12, 4).count_nonzero().item<int>(), 0) << "padding";
    EXPECT_EQ(buffer.narrow(0, 69'990 + 64, 10).count_nonzero().item<int>(), 0) << "padding";
  }
}

TEST_P(Layerwise, SlicesOfWholeParametersEqualTheWholeBitForBit) {
  const Memory whole(GetParam()), cut(GetParam()), tensors(GetParam());
  for (int step = 1; step <= kSteps; ++step) {
    for (const Memory* one : {&whole, &cut, &tensors}) {
      one->draw_gradients(step);
    }
    whole.update(step, 0, kElements);
    cut.update(step, 0, 32);
    cut.update(step, 32, 64);
    cut.update(step, 64, kElements);
    tensors.update_tensors(step);
  }
  for (std::size_t b = 0; b < whole.buffers.size(); ++b) {
    EXPECT_TRUE(at::equal(whole.buffers[b], cut.buffers[b])) << "buffer " << b;
    EXPECT_TRUE(at::equal(whole.buffers[b], tensors.buffers[b])) << "buffer " << b;
  }
}

TEST_P(Layerwise, BitsDoNotDependOnTheNumberOfThreads) {
  const int threads = at::get_num_threads();
  const Memory one(GetParam()), three(GetParam());
  for (const auto& [memory, count] : {std::pair{&one, 1}, std::pair{&three, 3}}) {
    at::set_num_threads(count);
    memory->draw_gradients(1);
    memory->update(1, 0, kElements);
  }
  at::set_num_threads(threads);
  EXPECT_TRUE(at::equal(one.buffers[0], three.buffers[0]));
}

// All of a matrix are zero, or all of its gradient.
TEST_P(Layerwise, ScaleIsOneWhereANormIsZero) {
  for (const bool values : {true, false}) {
    const Memory memory(GetParam());
    const Parameter& matrix = parameters().front();
    memory.draw_gradients(1);
    (values ? memory.values(matrix) : memory.gradients(matrix)).zero_();
    const Numbers before = numbers_of(memory.values(matrix));
    const Numbers mean = numbers_of(memory.gradients(matrix) / kDivisor);
    memory.update(1, 0, kElements);
    const Numbers ours = numbers_of(memory.values(matrix));
    if (GetParam() == "lars") {  // without the scale: sgd
      for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_EQ(ours[i], before[i] - kRate * (mean[i] + kDecay * before[i]));
      }
    } else if (values) {  // a first step of Adam's
      for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_NEAR(ours[i], -kRate * mean[i] / (std::abs(mean[i]) + 1e-6), 1e-14);
      }
    } else {  // decay alone is the update
      for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_NEAR(ours[i], before[i] * (1 - kRate), 1e-14);
      }
    }
  }
}

// Nothing but zeros: lamb's update is zero too.
TEST_P(Layerwise, AMatrixOfZerosWithoutGradientStays) {
  const Memory memory(GetParam());
  memory.values(parameters().front()).zero_();
  memory.update(1, 0, kElements);
  EXPECT_EQ(memory.values(parameters().front()).count_nonzero().item<int>(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, Layerwise, ::testing::Values("lamb", "lars"),
                         [](const auto& one) { return one.param; });

TEST(LayerwiseSgd, WithoutMomentumHasNoState) {
  OptimizerSettings rule{.name = "lars", .momentum = 0, .weight_decay = kDecay, .layerwise = true};
  const at::Tensor w = at::full({4}, 2.0, at::kDouble), g = at::full({4}, 1.0, at::kDouble);
  Call call;
  call.reads = {{w}, {g}};
  call.writes = call.reads;
  call.reads.push_back({at::full({1}, kRate, at::kDouble)});
  run_optimizer(rule, call);
  const double rate = 0.001 * 4 / (2 + kDecay * 4);  // norms 4 and 2
  EXPECT_TRUE(at::allclose(w, at::full({4}, 2 - kRate * rate * (1 + kDecay * 2), at::kDouble),
                           /*rtol=*/1e-15, /*atol=*/0));
}

TEST(LayerwiseGroups, RejectAPartOfAParameter) {
  const Memory memory("lamb");
  EXPECT_DEATH(memory.update(1, 0, 8), "layerwise");
}

}  // namespace
}  // namespace paceline::runtime::layerwise
