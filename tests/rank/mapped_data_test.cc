// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/mapped_data.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/rank/window.h"
#include "rank/run_rank_threads.h"

namespace paceline::rank {
namespace {

constexpr int kSide = 4;
constexpr int kClasses = 7;
constexpr int kPixels = kSide * kSide;

// Image i has class i modulo 7, and i in all pixels.
std::string text_of(int count) {
  std::string text = "PACEDATA";
  for (const std::int32_t number : {count, 1, kSide, kClasses}) {
    text.append(reinterpret_cast<const char*>(&number), 4);
  }
  text.append(40, '\0');
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t label = i % kClasses;
    text.append(reinterpret_cast<const char*>(&label), 8);
  }
  for (int i = 0; i < count; ++i) {
    text.append(kPixels, static_cast<char>(i));
  }
  return text;
}

class MappedDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::path(::testing::TempDir()) /
            ("images-" + std::to_string(getpid()) + ".mmap");
    c_.model = "linear";
    c_.data = "mmap:" + path_.string();
    c_.image_size = kSide;
    c_.classes = kClasses;
    c_.batch_size = 4;
    c_.strategy = "fusion";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  std::string rejection() const {
    try {
      MappedData data(c_, at::kCPU, at::kFloat);
      data.deal(2, 0);
      data.batch(0);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path path_;
  cases::Case c_;
};

TEST_F(MappedDataTest, EveryImageComesOnceInEachPassThroughItsRanksPart) {
  write(text_of(21));  // of which the last is nobody's
  std::set<int> seen;
  for (const int rank : {0, 1}) {
    MappedData data(c_, at::kCPU, at::kFloat);
    data.deal(2, rank);
    std::multiset<int> mine;
    for (int step = 0; step < 5; ++step) {  // two passes
      const networks::Batch batch = data.batch(step);
      ASSERT_EQ(batch.input.sizes(), (at::IntArrayRef{4, 1, kSide, kSide}));
      for (int i = 0; i < 4; ++i) {
        const at::Tensor image = batch.input[i] * 255;
        const int number = static_cast<int>(image.max().item<float>() + 0.5F);
        EXPECT_EQ(image.min().item<float>(), image.max().item<float>());
        EXPECT_EQ(batch.target[i].item<std::int64_t>(), number % kClasses);
        mine.insert(number);
        seen.insert(number);
      }
    }
    for (int number = 10 * rank; number < 10 * (rank + 1); ++number) {
      EXPECT_EQ(mine.count(number), 2U) << "rank " << rank << ", " << number;
    }
  }
  EXPECT_EQ(seen.size(), 20U);
}

TEST_F(MappedDataTest, WhiteIsOneInEveryTypeAndLayout) {
  std::string text = text_of(8);
  text.replace(text.size() - 8 * kPixels, 8 * kPixels, 8 * kPixels, '\xff');
  write(text);
  c_.channels_last = true;
  MappedData data(c_, at::kCPU, at::kBFloat16);
  data.deal(1, 0);
  EXPECT_TRUE(data.batch(0).input.equal(at::ones({4, 1, kSide, kSide}, at::kBFloat16)));
}

TEST_F(MappedDataTest, ItsTimeIsAPhaseOfTheStep) {
  write(text_of(100));
  testing::run_rank_threads_well(2, [&](const RankGroup& group) {
    Trainer trainer(c_, group);
    const records::RankSamples samples =
        measure(trainer, {.warmup = 1, .steps = 6, .reads_data = true});
    const auto& data = samples.phase_ns.at("data");
    ASSERT_EQ(data.size(), 6U);
    for (std::size_t i = 0; i < data.size(); ++i) {
      EXPECT_GT(data[i], 0);
      EXPECT_LT(data[i], samples.step_ns[i]);
    }
  });
}

TEST_F(MappedDataTest, DamagedFilesAreRejected) {
  EXPECT_NE(rejection().find("cannot be read"), std::string::npos);
  write("PACEDATB" + text_of(8).substr(8));
  EXPECT_NE(rejection().find("does not begin with PACEDATA"), std::string::npos);
  write(text_of(8) + "x");
  EXPECT_NE(rejection().find("which is no file of 257 bytes"), std::string::npos);
  write(text_of(7));
  EXPECT_NE(rejection().find("has 3 images for each of 2 ranks"), std::string::npos);
  std::string text = text_of(8);
  for (int i = 0; i < 8; ++i) {
    text[plan::SampleFile::kHeaderBytes + 8 * i] = kClasses;
  }
  write(text);
  EXPECT_NE(rejection().find("has class 7 of 7"), std::string::npos);
}

}  // namespace
}  // namespace paceline::rank
