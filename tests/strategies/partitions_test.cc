// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/partitions.h"

#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "plan/toy_model.h"

namespace paceline::strategies {
namespace {

/// The words that reject to plan it; empty where it is planned.
std::string rejection(const std::string& text, const PlanInput& input) {
  try {
    const auto planner = make_planner(parse_strategy(text));
    const auto setup = planner->setup(input);
    planner->plan(input, setup, 0);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::vector<Bucket> buckets_of(const std::vector<Elements>& counts) {
  std::vector<Bucket> buckets;
  for (const Elements count : counts) {
    Bucket& bucket = buckets.emplace_back();
    bucket.values.count = bucket.gradients.count = count;
  }
  return buckets;
}

PartitionLimit limit(const std::string& mebibytes) {
  return {"row", Options({{"partition-mb", mebibytes}})};
}

std::string rejection(const PartitionLimit& limit, const std::vector<Bucket>& buckets) {
  try {
    limit.largest_partition_elements(buckets, 16, 4);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Partitions, AreWholeStepsAndOneAtLeast) {
  const auto buckets = buckets_of({1000});
  EXPECT_EQ(limit("1").largest_partition_elements(buckets, 16, 4), 262'144);
  EXPECT_EQ(limit("0.0002").largest_partition_elements(buckets, 16, 4), 48);  // of 52
  EXPECT_EQ(limit("0.000000001").largest_partition_elements(buckets, 16, 4), 16);
}

TEST(Partitions, AsManyAsThereMayBe) {
  const Elements most = kMostPartitions * 16;
  EXPECT_EQ(rejection(limit("0.00001"), buckets_of({most})), "");
  EXPECT_EQ(rejection(limit("0.00001"), buckets_of({most + 1})),
            "strategy option row:partition-mb=0.00001: cuts the model into 20001 pieces, and at "
            "most 20000 are planned; take larger ones");
  EXPECT_EQ(limit("0.000123").largest_partition_elements(buckets_of({most + 1}), 16, 4), 32);
  EXPECT_NE(rejection(limit("0.000121"), buckets_of({most + 1})), "");
}

TEST(Partitions, EveryUnitMayBeOne) {
  const std::vector<Elements> counts(kMostPartitions + 1, 16);
  EXPECT_EQ(rejection(limit("0.00001"), buckets_of(counts)), "");
}

TEST(Partitions, StrategiesRejectWhatWouldFillTheMemory) {
  // 64 MiB of parameters, in pieces of 64 bytes times the shards.
  const PlanInput input = input_of(toy_model({{1 << 24}}), 2);
  for (const char* text :
       {"bytescheduler:partition-mb=0.0001", "bytescheduler:partition-mb=1e-9,order=priority",
        "wfbp+ps:partition-mb=0.0001"}) {
    const std::string sentence = rejection(text, input);
    EXPECT_TRUE(sentence.starts_with("strategy option ")) << text;
    EXPECT_NE(sentence.find(" pieces, and at most 20000 are planned; take "), std::string::npos)
        << text << ": " << sentence;
  }
  EXPECT_EQ(rejection("bytescheduler:partition-mb=1", input), "");
  EXPECT_EQ(rejection("wfbp+ps:partition-mb=1", input), "");
}

/// Where the all-reduces of rank 0's plan begin in the gradients, of two ranks and five tensors of
/// 1024 bytes that are ready long before the first crosses.
std::vector<Elements> crossings(const std::string& text) {
  const PlanInput input = input_of(toy_model({{256}, {256}, {256}, {256}, {256}}), 2);
  const auto planner = make_planner(parse_strategy(text));
  const auto setup = planner->setup(input);
  std::vector<Elements> begins;
  for (const Op& op : planner->plan(input, setup, 0).ops) {
    if (const auto* collective = std::get_if<Collective>(&op.work)) {
      begins.push_back(collective->in.begin);
    }
  }
  return begins;
}

// The last tensor leaves first, and a credit of two partitions lets the one before it follow; then
// the next forward's first overtakes.
TEST(Partitions, AndCreditCountBytesAsTheyCross) {
  const auto one = crossings("bytescheduler:credit-mb=0.0009765625");
  const auto two = crossings("bytescheduler:credit-mb=0.001953125");
  EXPECT_EQ(one, (std::vector<Elements>{0, 1024, 768, 512, 256}));
  EXPECT_EQ(two, (std::vector<Elements>{0, 256, 1024, 768, 512}));
  EXPECT_EQ(crossings("bytescheduler:credit-mb=0.0009765625+fp16"), two);
  EXPECT_EQ(crossings("bytescheduler:credit-mb=0.00048828125+fp16"), one);
}

TEST(Partitions, OfNothingAreRejectedWhereTheyAreWritten) {
  for (const char* text : {"bytescheduler:partition-mb=0", "wfbp+ps:partition-mb=0.0"}) {
    EXPECT_THROW(parse_strategy(text), UsageError) << text;
  }
  EXPECT_NO_THROW(parse_strategy("bytescheduler:credit-mb=0"));
}

}  // namespace
}  // namespace paceline::strategies
