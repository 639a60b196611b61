// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/report/cases.h"
#include "report/fixed_records.h"

namespace paceline::report {
namespace {

using records::RunRecord;

/// Of cases with this label, each of another strategy.
std::vector<std::string> labels_of(const std::string& label,
                                   const std::vector<std::string>& strategies) {
  std::vector<RunRecord> records;
  for (const std::string& strategy : strategies) {
    records.push_back(fixed_record({label, strategy, 2, 100}));
  }
  return unique_labels(group_cases(records));
}

TEST(Labels, NamesakesAreToldApartByWhatDiffers) {
  std::vector<RunRecord> records{
      fixed_record({"1M/2G", "ddp", 2, 100}), fixed_record({"1M/2G", "ddp", 2, 100}),
      fixed_record({"1M/1G", "ddp", 1, 100}), fixed_record({"", "fusion", 2, 100})};
  records[1].configuration.bucket_mb = 1;
  records[2].source = records::Source::kPredicted;
  EXPECT_EQ(unique_labels(group_cases(records)),
            (std::vector<std::string>{"1M/2G bucket_mb=25", "1M/2G bucket_mb=1",
                                      "1M/1G (predicted)", "fusion"}));
}

TEST(Labels, SayThatACaseLacksItsExchange) {
  std::vector<RunRecord> records{fixed_record({"", "diloco", 2, 100}),
                                 fixed_record({"", "fusion", 2, 100})};
  records[0].warnings = {{records::kLacksExchange, "", "", ""}};
  EXPECT_EQ(unique_labels(group_cases(records)),
            (std::vector<std::string>{"diloco (INVALID)", "fusion"}));
}

// Windows that nobody has chosen are as long as periods are.
TEST(Labels, StepsAreShownOnlyWhereNothingElseDiffers) {
  std::vector<RunRecord> records{fixed_record({"", "ddp", 4, 100}),
                                 fixed_record({"", "ddp", 8, 100})};
  records[1].configuration.steps = 12;
  records[1].configuration.warmup = 6;
  EXPECT_EQ(unique_labels(group_cases(records)),
            (std::vector<std::string>{"ddp ranks=4", "ddp ranks=8"}));
  records[1].configuration.ranks = 4;
  EXPECT_EQ(unique_labels(group_cases(records)),
            (std::vector<std::string>{"ddp steps=10", "ddp steps=12"}));
}

TEST(Labels, PartsWithoutAValueAreLeftOut) {
  std::vector<RunRecord> records{fixed_record({"", "ddp", 4, 100}),
                                 fixed_record({"", "ddp", 4, 100})};
  records[1].configuration.ranks_per_host = {2, 2};
  EXPECT_EQ(unique_labels(group_cases(records)),
            (std::vector<std::string>{"ddp", "ddp ranks_per_host=2+2"}));
}

TEST(Labels, StepsOfPredictionsAreShownOnlyWhereNothingElseDiffers) {
  std::vector<RunRecord> records{fixed_record({"", "ddp", 1, 100}),
                                 fixed_record({"", "ddp", 2, 100})};
  records[1].configuration.steps = 12;
  for (RunRecord& record : records) {
    record.source = records::Source::kPredicted;
  }
  EXPECT_EQ(unique_labels(group_cases(records)),
            (std::vector<std::string>{"ddp (predicted) ranks=1", "ddp (predicted) ranks=2"}));
  records.push_back(records[1]);
  records[2].configuration.steps = 24;
  EXPECT_EQ(unique_labels(group_cases(records)),
            (std::vector<std::string>{"ddp (predicted) ranks=1 steps=10",
                                      "ddp (predicted) ranks=2 steps=12",
                                      "ddp (predicted) ranks=2 steps=24"}));
}

TEST(Labels, NamesakesOfOtherStrategiesShowTheOptionsThatDiffer) {
  EXPECT_EQ(labels_of("fusion+neighbor", {"fusion:mb=1+neighbor:topology=ring,local=0",
                                          "fusion:mb=1+neighbor:topology=exp:4,local=0",
                                          "fusion:mb=1+neighbor:topology=ring,local=2"}),
            (std::vector<std::string>{"fusion+neighbor:topology=ring,local=0",
                                      "fusion+neighbor:topology=exp:4,local=0",
                                      "fusion+neighbor:topology=ring,local=2"}));
  // The label says less than the names do.
  EXPECT_EQ(labels_of("fusion+neighbor",
                      {"fusion:mb=1+neighbor+pga:every=2", "fusion:mb=1+neighbor+pga:every=5"}),
            (std::vector<std::string>{"fusion+neighbor strategy=fusion+neighbor+pga:every=2",
                                      "fusion+neighbor strategy=fusion+neighbor+pga:every=5"}));
  // An option that only one of them has tells them apart.
  EXPECT_EQ(labels_of("a+b", {"a:x=1+b", "a+b", "a+b:y=1"}),
            (std::vector<std::string>{"a:x=1+b", "a+b", "a+b:y=1"}));
}

TEST(Labels, AreTheShortestThatTellCasesApart) {
  // The size of buckets is in both options of the strategy, and a key.
  std::vector<RunRecord> ddp;
  for (const int mb : {1, 25}) {
    ddp.push_back(
        fixed_record({"ddp", fmt::format("ddp:bucket-mb={0},first-bucket-mb={0}", mb), 2, 1}));
    ddp.back().configuration.bucket_mb = mb;
  }
  EXPECT_EQ(unique_labels(group_cases(ddp)),
            (std::vector<std::string>{"ddp:bucket-mb=1,first-bucket-mb=1",
                                      "ddp:bucket-mb=25,first-bucket-mb=25"}));
  std::vector<RunRecord> records;
  for (const double mb : {1.0, 4.0}) {
    for (const int ranks : {2, 4}) {
      records.push_back(fixed_record({"mine", fmt::format("fusion:bucket-mb={}", mb), ranks, 100}));
      records.back().configuration.bucket_mb = mb;
      records.back().configuration.threads = 8 / ranks;
      records.back().configuration.learning_rate = mb;
    }
  }
  EXPECT_EQ(
      unique_labels(group_cases(records)),
      (std::vector<std::string>{
          "mine ranks=2 strategy=fusion:bucket-mb=1", "mine ranks=4 strategy=fusion:bucket-mb=1",
          "mine ranks=2 strategy=fusion:bucket-mb=4", "mine ranks=4 strategy=fusion:bucket-mb=4"}));
}

TEST(Labels, OfAnExternalCaseSayItsSourceOnce) {
  std::vector<RunRecord> records{fixed_record({"external", "external", 2, 1})};
  records[0].source = records::Source::kExternal;
  EXPECT_EQ(unique_labels(group_cases(records)), (std::vector<std::string>{"external"}));
}

TEST(Labels, StandBesideAColumnOfRanksWithoutThem) {
  EXPECT_EQ(without_ranks("ddp (predicted) ranks=2 steps=12", 2), "ddp (predicted) steps=12");
  EXPECT_EQ(without_ranks("ddp ranks=2", 2), "ddp");
  EXPECT_EQ(without_ranks("ddp ranks=21", 2), "ddp ranks=21");
  EXPECT_EQ(without_ranks("ddp", 2), "ddp");
}

TEST(Labels, SayOptionsThatTheNamesDoNotStandFor) {
  const std::string apart =
      "bsp+ps:servers=1,placement=apart,assign=round-robin,partition-mb=3.90625,local=0";
  EXPECT_EQ(labels_of("bsp+ps", {apart}),
            (std::vector<std::string>{"bsp+ps:servers=1,placement=apart,local=0"}));
  // A name of the user's is not touched.
  EXPECT_EQ(labels_of("servers", {apart}), (std::vector<std::string>{"servers"}));
  // The bucket size of the case is what `fusion` alone stands for.
  std::vector<RunRecord> records{fixed_record({"fusion", "fusion:bucket-mb=8", 2, 100})};
  EXPECT_EQ(unique_labels(group_cases(records)), (std::vector<std::string>{"fusion:bucket-mb=8"}));
  records[0].configuration.bucket_mb = 8;
  EXPECT_EQ(unique_labels(group_cases(records)), (std::vector<std::string>{"fusion"}));
}

TEST(Labels, ANameLeavesOptionsOfTheStrategyOut) {
  const std::string all = "fusion:bucket-mb=25+ps:servers=1,local=1";
  for (const char* name : {all.c_str(), "fusion+ps", "fusion:bucket-mb=25+ps:local=1"}) {
    EXPECT_TRUE(matches_strategy(name, all)) << name;
  }
  for (const char* name : {"fusion", "ps", "ps+fusion", "fusion+ps:local=2", "fusio+ps"}) {
    EXPECT_FALSE(matches_strategy(name, all)) << name;
  }
}

}  // namespace
}  // namespace paceline::report
