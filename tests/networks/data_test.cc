// SPDX-License-Identifier: Apache-2.0
#include "paceline/networks/data.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <torch/types.h>
#include <unistd.h>

#include "paceline/base/error.h"

namespace paceline::networks {
namespace {

// Counts and sums of the original file: 1797 images whose pixels add up to 561718, of which 178 are
// a zero and 180 a nine.
TEST(Data, DigitsAreThoseOfTheOriginal) {
  const DataSet digits = load_data("digits", 0);
  EXPECT_EQ(digits.train.count(), 1438);
  EXPECT_EQ(digits.test.count(), 359);
  EXPECT_EQ(digits.train.inputs.sizes(), (std::vector<std::int64_t>{1438, 1, 8, 8}));
  const double pixels = (digits.train.inputs.to(at::kDouble).sum().item<double>() +
                         digits.test.inputs.to(at::kDouble).sum().item<double>()) *
                        16;
  EXPECT_EQ(pixels, 561718);
  const at::Tensor labels = at::cat({digits.train.targets, digits.test.targets});
  EXPECT_EQ(labels.eq(0).sum().item<std::int64_t>(), 178);
  EXPECT_EQ(labels.eq(9).sum().item<std::int64_t>(), 180);
}

TEST(Data, MadeDataDependOnTheSeedAlone) {
  for (const char* name : {"teacher", "least-squares"}) {
    const DataSet one = load_data(name, 3);
    const DataSet same = load_data(name, 3);
    const DataSet other = load_data(name, 4);
    EXPECT_TRUE(at::equal(one.train.inputs, same.train.inputs)) << name;
    EXPECT_TRUE(at::equal(one.test.targets, same.test.targets)) << name;
    EXPECT_FALSE(at::equal(one.train.inputs, other.train.inputs)) << name;
  }
}

// At the optimum the gradient vanishes, and every other point has more loss.
TEST(Data, TheLeastLossOfARegressionIsTheLeast) {
  const DataSet set = load_data("least-squares", 0);
  const double least = least_squares_loss(set.train);
  EXPECT_GT(least, 0);
  const at::Tensor inputs = set.train.inputs.flatten(1).to(at::kDouble);
  const at::Tensor targets = set.train.targets.to(at::kDouble);
  at::Tensor weights = at::zeros({inputs.size(1)}, at::kDouble).requires_grad_(true);
  at::Tensor shift = at::zeros({1}, at::kDouble).requires_grad_(true);
  double loss = 0;
  for (int step = 0; step < 500; ++step) {
    const at::Tensor value = (at::matmul(inputs, weights) + shift - targets).square().mean() / 2;
    value.backward();
    loss = value.item<double>();
    EXPECT_GE(loss, least - 1e-12);
    const at::NoGradGuard no_grad;
    for (at::Tensor& parameter : std::vector<at::Tensor>{weights, shift}) {
      parameter.sub_(parameter.grad(), 0.5);
      parameter.mutable_grad().zero_();
    }
  }
  EXPECT_NEAR(loss, least, 1e-9);
}

std::vector<std::int64_t> groups_of(std::int64_t count) {
  std::vector<std::int64_t> groups;
  for (std::int64_t i = 0; i < count; ++i) {
    groups.push_back(i % 5);
  }
  return groups;
}

TEST(Split, GivesEveryRankAsManySamplesAndNoneTwice) {
  for (const char* split : {"even", "dirichlet:0.1", "dirichlet:100"}) {
    const auto shards = split_samples(groups_of(103), split, 4, 7);
    std::set<std::int64_t> seen;
    for (const auto& shard : shards) {
      EXPECT_EQ(shard.size(), 25u) << split;
      seen.insert(shard.begin(), shard.end());
    }
    EXPECT_EQ(seen.size(), 100u) << split;
    EXPECT_EQ(shards, split_samples(groups_of(103), split, 4, 7));
    EXPECT_NE(shards, split_samples(groups_of(103), split, 4, 8));
  }
  EXPECT_THROW(split_samples(groups_of(3), "even", 4, 0), UsageError);
}

/// The share of a rank's most frequent group, the mean over ranks.
double concentration(const std::string& split) {
  const auto groups = groups_of(5000);
  double sum = 0;
  for (const auto& shard : split_samples(groups, split, 10, 1)) {
    std::map<std::int64_t, double> count;
    for (const std::int64_t sample : shard) {
      count[groups[static_cast<std::size_t>(sample)]] += 1;
    }
    sum += std::ranges::max_element(count, {}, [](const auto& one) { return one.second; })->second /
           static_cast<double>(shard.size());
  }
  return sum / 10;
}

TEST(Split, IsTheMoreUnevenTheSmallerAlpha) {
  EXPECT_GT(concentration("dirichlet:0.1"), 0.6);
  EXPECT_LT(concentration("dirichlet:100"), 0.3);
  EXPECT_LT(concentration("even"), 0.3);
}

TEST(BatchOrder, TakesEachSampleOnceAnEpoch) {
  BatchOrder order(10, 4, 5, 2);
  std::vector<std::int64_t> taken;
  for (std::int64_t step = 0; step < 5; ++step) {
    const auto numbers = order.of(step);
    taken.insert(taken.end(), numbers.begin(), numbers.end());
  }
  for (const auto epoch : {0, 1}) {
    std::vector<std::int64_t> numbers(taken.begin() + 10 * epoch, taken.begin() + 10 * epoch + 10);
    std::ranges::sort(numbers);
    std::vector<std::int64_t> all(10);
    std::iota(all.begin(), all.end(), std::int64_t{0});
    EXPECT_EQ(numbers, all);
  }
  BatchOrder again(10, 4, 5, 2);
  EXPECT_EQ(again.of(3), order.of(3));
  BatchOrder other(10, 4, 5, 3);
  EXPECT_NE(other.of(0), order.of(0));
}

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("paceline_data_test_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }

  void write(const std::string& name, const std::vector<int>& bytes) const {
    std::ofstream file(path_ / name, std::ios::binary);
    for (const int byte : bytes) {
      file.put(static_cast<char>(byte));
    }
  }
  std::string name() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::vector<int> idx(const std::vector<int>& sizes, int value) {
  std::vector<int> bytes{0, 0, 8, static_cast<int>(sizes.size())};
  int count = 1;
  for (const int size : sizes) {
    bytes.insert(bytes.end(), {0, 0, size / 256, size % 256});
    count *= size;
  }
  bytes.insert(bytes.end(), static_cast<std::size_t>(count), value);
  return bytes;
}

TEST(Data, ReadsMnistAndRejectsDamage) {
  const Folder folder;
  const std::string data = "mnist:" + folder.name();
  EXPECT_THROW(load_data(data, 0), UsageError) << "no files";
  for (const char* part : {"train", "t10k"}) {
    folder.write(std::string(part) + "-images-idx3-ubyte", idx({3, 28, 28}, 255));
    folder.write(std::string(part) + "-labels-idx1-ubyte", idx({3}, 7));
  }
  const DataSet set = load_data(data, 0);
  EXPECT_EQ(set.train.inputs.sizes(), (std::vector<std::int64_t>{3, 1, 28, 28}));
  EXPECT_NEAR(set.test.inputs.max().item<double>(), (1 - 0.1307) / 0.3081, 1e-5);
  EXPECT_TRUE(set.train.targets.eq(7).all().item<bool>());
  folder.write("train-labels-idx1-ubyte", idx({4}, 7));
  EXPECT_THROW(load_data(data, 0), UsageError) << "4 labels of 3 images";
  auto cut = idx({3}, 7);
  cut.pop_back();
  folder.write("train-labels-idx1-ubyte", cut);
  EXPECT_THROW(load_data(data, 0), UsageError) << "cut short";
  folder.write("train-labels-idx1-ubyte", {1, 2});
  EXPECT_THROW(load_data(data, 0), UsageError) << "another file";
}

TEST(Data, ReadsCifarAndRejectsDamage) {
  const Folder folder;
  std::vector<int> record(1 + 3 * 32 * 32, 0);
  record[0] = 6;
  for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                           "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"}) {
    folder.write(name, record);
  }
  const DataSet set = load_data("cifar10:" + folder.name(), 0);
  EXPECT_EQ(set.train.count(), 5);
  EXPECT_EQ(set.groups, std::vector<std::int64_t>(5, 6));
  EXPECT_NEAR(set.test.inputs[0][2][0][0].item<double>(), -0.4465 / 0.2616, 1e-5);
  record.pop_back();
  folder.write("data_batch_3.bin", record);
  EXPECT_THROW(load_data("cifar10:" + folder.name(), 0), UsageError);
}

}  // namespace
}  // namespace paceline::networks
