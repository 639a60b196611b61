// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/codec_advice.h"

#include <cmath>

#include <gtest/gtest.h>

#include "predict/two_nodes.h"

namespace paceline::predict {
namespace {

TEST(BreakEven, IsWhatIsSavedOverTheTimeOfCoding) {
  // 100 MB in 50 ms: 2 GB/s, 16 Gbit/s.
  EXPECT_DOUBLE_EQ(*break_even_bytes_per_s(100'000'000, plan::picoseconds_of(0.05)), 2e9);
  EXPECT_EQ(break_even_bytes_per_s(0, 1), std::nullopt);
  EXPECT_EQ(break_even_bytes_per_s(-5, 1), std::nullopt);
  EXPECT_TRUE(std::isinf(*break_even_bytes_per_s(1, 0)));
}

/// Sign and its inverse at this many bytes a second, and ef-sign's rate unknown.
AdviseRequest request_of(double bytes_per_s) {
  AdviseRequest request{.job = predict::request("fusion", 8)};
  request.bucket_mb = {25};
  const auto kernel = [bytes_per_s](const char* name) {
    return cluster::KernelTime{name, 1'000'000, plan::picoseconds_of(1e6 / bytes_per_s)};
  };
  request.job.codecs = {
      {.codec = "sign", .bytes = 1, .kernels = {kernel("sign"), kernel("unsign"), kernel("vote")}},
      {.codec = "gtopk", .bytes = 1, .kernels = {}}};
  return request;
}

// Per value: sign reads 4 bytes and writes 1/8, the vote of eight reads 8/8 and writes 1/8,
// spreading reads 1/8 and writes 4: 75/8 bytes.
TEST(CodecAdvice, CodingTakesWhatItsKernelsTookByteForByte) {
  const CodecTable table = compare_codecs(request_of(1e9));
  ASSERT_EQ(table.rows.size(), 2u);
  const CodecAdvice& sign = table.rows[0];
  const double values = 25'557'032;
  EXPECT_NEAR(plan::seconds_of(sign.coding), values * 75 / 8 / 1e9, 1e-3 * 0.24);
  EXPECT_NEAR(static_cast<double>(sign.bytes), 7 * values / 8, 1e4);
  EXPECT_NEAR(static_cast<double>(table.plain.bytes), 14 * values / 8 * 4, 1e5);
  EXPECT_DOUBLE_EQ(
      *sign.break_even_bytes_per_s,
      static_cast<double>(table.plain.bytes - sign.bytes) / plan::seconds_of(sign.coding));
  EXPECT_EQ(table.rows[1].codec, "gtopk");
}

// 10 Gbit/s between hosts of four: a fast coder pays, a slow one does not.
TEST(CodecAdvice, SaysWhetherTheStepIsShorter) {
  const CodecAdvice fast = compare_codecs(request_of(1e12)).rows[0];
  const CodecTable slow = compare_codecs(request_of(1e8));
  EXPECT_LT(fast.change, 0);
  EXPECT_GT(slow.rows[0].change, 0);
  EXPECT_DOUBLE_EQ((1 + fast.change) * static_cast<double>(slow.plain.step),
                   static_cast<double>(fast.step));
  EXPECT_GT(slow.rows[0].step, slow.plain.step);
  EXPECT_LT(fast.step, slow.plain.step);
}

TEST(CodecAdvice, WhatIsWithinTheErrorBarIsNoDifference) {
  AdviseRequest request = request_of(1e12);
  request.error = 0;
  EXPECT_FALSE(compare_codecs(request).rows[0].ties_with_no_codec);
  request.error = 0.99;
  EXPECT_TRUE(compare_codecs(request).rows[0].ties_with_no_codec);
}

/// ResNet-50, 102.2 MB, between two hosts: 557 ms of all-reduce beside 336 ms of backward, and
/// casts at this many bytes a second.
CodecTable half_of_557_ms(double bytes_per_s) {
  AdviseRequest request{.job = predict::request("fusion", 2)};
  request.bucket_mb = {4};
  request.job.cluster.hosts[0].slots = 1;
  request.job.cluster.links[1].bytes_per_s = 102'228'128 / 0.557;
  const plan::ModelShape& model = request.job.network.model;
  const auto each = [](std::size_t count, double seconds) {
    return std::vector<plan::Picoseconds>(
        count, plan::picoseconds_of(seconds / static_cast<double>(count)));
  };
  request.job.profile = plan::LayerProfile{.origin = "a test",
                                           .forward = each(model.modules.size(), 0.168),
                                           .backward = each(model.parameters.size(), 0.336)};
  request.job.codecs = {
      {.codec = "fp16",
       .bytes = 1,
       .kernels = {{"cast", 1'000'000, plan::picoseconds_of(1e6 / bytes_per_s)}}}};
  return compare_codecs(request);
}

// The first bucket waits for 25 of 161 gradients; the rest of the all-reduce that backward does not
// cover is what a codec can save.
TEST(CodecAdvice, ACodecSavesWhatBackwardDoesNotHide) {
  const CodecTable table = half_of_557_ms(100e9);
  EXPECT_GT(plan::seconds_of(table.plain.exposed), 0.557 - 0.336);
  EXPECT_LT(plan::seconds_of(table.plain.exposed), 0.557 - 0.336 + 0.06);
  EXPECT_LT(plan::seconds_of(table.rows[0].exposed), 0.02);
  EXPECT_LT(table.rows[0].change, -0.25);
  // Casts that take longer than the 221 ms.
  EXPECT_GT(half_of_557_ms(0.5e9).rows[0].change, 0);
}

TEST(CodecAdvice, SaysWhyACodecCannotBe) {
  AdviseRequest six = request_of(1e9);
  six.job.ranks = 6;
  const CodecTable table = compare_codecs(six);
  ASSERT_EQ(table.unfit.size(), 1u);
  EXPECT_NE(table.unfit[0].why.find("power of two"), std::string::npos);
  six.job.ranks = 1;
  EXPECT_TRUE(compare_codecs(six).rows.empty());
}

}  // namespace
}  // namespace paceline::predict
