// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/pairing.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "records/rejection.h"
#include "report/fixed_diff.h"

namespace paceline::report {
namespace {

using records::RunRecord;

std::vector<std::string> labels(const std::vector<CaseRecords>& cases) {
  std::vector<std::string> labels;
  for (const CaseRecords& one : cases) {
    labels.push_back(one.configuration().label);
  }
  return labels;
}

TEST(Pairing, CasesFindEachOtherWhereverTheyStand) {
  std::vector<RunRecord> test = fixed_records();
  std::reverse(test.begin(), test.end());
  const std::vector<RunRecord> base = fixed_records();
  const Pairing pairing = pair_cases(base, test);
  EXPECT_EQ(pairing.pairs.size(), 7u);
  EXPECT_TRUE(pairing.only_base.empty());
  EXPECT_TRUE(pairing.only_test.empty());
  for (const CasePair& pair : pairing.pairs) {
    EXPECT_EQ(pair.base.configuration(), pair.test.configuration());
    EXPECT_TRUE(pair.differences.empty());
  }
}

TEST(Pairing, AChangedKeyIsADifferenceOfThePair) {
  const std::vector<RunRecord> base = fixed_records();
  std::vector<RunRecord> test = fixed_records();
  for (RunRecord& r : test) {
    r.configuration.bucket_mb = 1;
    if (r.configuration.strategy == "ddp") {
      r.configuration.strategy = "fusion";
    }
  }
  const Pairing pairing = pair_cases(base, test);
  ASSERT_EQ(pairing.pairs.size(), 7u);
  const Difference bucket{"bucket_mb", "25", "1"};
  const Difference strategy{"strategy", "ddp", "fusion"};
  EXPECT_EQ(pairing.pairs[0].differences, std::vector{bucket});
  EXPECT_EQ(pairing.pairs[1].differences, (std::vector{strategy, bucket}));
}

TEST(Pairing, OtherWorkIsNeverPaired) {
  const std::vector<RunRecord> base{fixed_record({"a", "ddp", 2, 100})};
  for (const auto change :
       {+[](cases::Case& c) { c.model = "resnet101"; }, +[](cases::Case& c) { c.batch_size = 64; },
        +[](cases::Case& c) { c.image_size = 64; }, +[](cases::Case& c) { c.accumulate = 2; },
        +[](cases::Case& c) { c.ranks = 4; }}) {
    std::vector<RunRecord> test = base;
    change(test[0].configuration);
    test[0].configuration.label = "b";
    const Pairing pairing = pair_cases(base, test);
    EXPECT_TRUE(pairing.pairs.empty());
    EXPECT_EQ(labels(pairing.only_base), std::vector<std::string>{"a"});
    EXPECT_EQ(labels(pairing.only_test), std::vector<std::string>{"b"});
  }
}

TEST(Pairing, WhatCouldBePairedInTwoWaysIsNotPaired) {
  const std::vector<RunRecord> base{fixed_record({"a", "ddp", 2, 100})};
  const std::vector<RunRecord> test{fixed_record({"b", "bsp", 2, 100}),
                                    fixed_record({"c", "fusion", 2, 100})};
  const Pairing pairing = pair_cases(base, test);
  EXPECT_TRUE(pairing.pairs.empty());
  EXPECT_EQ(pairing.only_test.size(), 2u);
}

// As logs of ddl-benchmarks are imported: no option is known, and the strategy of one is the
// beginning of another's.
TEST(Pairing, AFileWithItselfPairsEverything) {
  std::vector<RunRecord> records;
  for (const char* strategy :
       {"bsp", "bsp+ps", "bsp+ps:placement=apart", "fusion", "fusion+topk:density=0.01", "wfbp"}) {
    records.push_back(fixed_record({strategy, strategy, 2, 100}));
    records.back().source = records::Source::kImported;
  }
  records.push_back(records.front());
  records.back().configuration.steps = 20;
  records.push_back(records.front());
  records.back().source = records::Source::kMeasured;
  const Pairing pairing = pair_cases(records, records);
  ASSERT_EQ(pairing.pairs.size(), records.size());
  for (const CasePair& pair : pairing.pairs) {
    EXPECT_EQ(pair.base.configuration(), pair.test.configuration());
    EXPECT_TRUE(pair.differences.empty());
  }
}

// The head of a log says the whole case.
TEST(Pairing, LogsOfARunArePairedWithItsRecords) {
  std::vector<RunRecord> records, logs;
  for (const char* strategy : {"bsp", "bsp+ps:placement=colocated", "fusion"}) {
    for (const char* link : {"", "1Gbit,50us", "10Gbit,50us"}) {
      records.push_back(fixed_record({"", strategy, 2, 100}));
      records.back().configuration.link = link;
      records.back().configuration.seed = 7;
      logs.push_back(records.back());
      logs.back().source = records::Source::kImported;
      logs.back().configuration.steps = 5;
    }
  }
  const Pairing pairing = pair_cases(records, logs);
  ASSERT_EQ(pairing.pairs.size(), records.size());
  for (const CasePair& pair : pairing.pairs) {
    EXPECT_EQ(pair.base.configuration().link, pair.test.configuration().link);
    EXPECT_EQ(pair.differences, (std::vector<Difference>{{"source", "measured", "imported"}}));
  }
}

TEST(Pairing, APartThatOneImportedCaseLacksIsADifference) {
  std::vector<RunRecord> base{fixed_record({"", "bsp", 2, 100})};
  base[0].source = records::Source::kImported;
  std::vector<RunRecord> test = base;
  test[0].configuration.strategy = "bsp+ps";
  EXPECT_EQ(pair_cases(base, test).pairs.at(0).differences,
            (std::vector<Difference>{{"strategy", "bsp", "bsp+ps"}}));
}

TEST(Pairing, NamesTheKeysInWhichCasesWithoutPartnerDiffer) {
  const std::vector<RunRecord> base{fixed_record({"a", "ddp", 2, 100})};
  std::vector<RunRecord> test{fixed_record({"a", "ddp", 2, 100}),
                              fixed_record({"c", "fusion", 4, 100})};
  test[0].configuration.image_size = 64;
  const Pairing pairing = pair_cases(base, test);
  const std::string text = differing_keys_text(pairing.only_base, pairing.only_test);
  EXPECT_TRUE(text.starts_with("; they differ in image_size, ranks, strategy: --base")) << text;
  EXPECT_EQ(differing_keys_text(pairing.only_base, {}), "");
}

// Keys of instruments are in a record only where it had one.
TEST(Pairing, ALinkOnOneSideAloneIsADifferenceOfThePair) {
  const std::vector<RunRecord> base{fixed_record({"1M/2G", "ddp", 2, 100})};
  std::vector<RunRecord> test = base;
  test[0].configuration.link = "1Gbit,50us";
  test[0].configuration.stretch = 2;
  const std::vector<Difference> forth{{"link", "-", "1Gbit,50us"}, {"stretch", "-", "2"}};
  const std::vector<Difference> back{{"link", "1Gbit,50us", "-"}, {"stretch", "2", "-"}};
  EXPECT_EQ(pair_cases(base, test).pairs.at(0).differences, forth);
  EXPECT_EQ(pair_cases(test, base).pairs.at(0).differences, back);
  EXPECT_EQ(select_records(test, "link", "1Gbit,50us").size(), 1u);
  EXPECT_THROW(select_records(base, "link", "1Gbit,50us"), UsageError);
}

// What is usual is not in a record either, and has a name all the same.
TEST(Pairing, SelectsTablesByWhatIsUsual) {
  std::vector<RunRecord> records{fixed_record({"a", "ddp", 5, 100}),
                                 fixed_record({"b", "ddp", 5, 100})};
  for (RunRecord& record : records) {
    record.configuration.model = "hybrid";
  }
  records[1].configuration.placement = "row-hash";
  EXPECT_EQ(select_records(records, "placement", "table").size(), 1u);
  const std::vector<Difference> differences{{"placement", "table", "row-hash"}};
  const auto found =
      pair_cases(std::span(records).first(1), std::span(records).last(1)).pairs.at(0).differences;
  EXPECT_EQ(found, differences);
}

TEST(Pairing, SelectsStrategiesAsTablesSayThem) {
  const std::vector<RunRecord> records{
      fixed_record({"a", "fusion:bucket-mb=25", 2, 1}),
      fixed_record({"b", "fusion:bucket-mb=25+topk:density=0.1", 2, 1}),
      fixed_record({"c", "bsp+ps:servers=1,placement=apart", 2, 1}),
      fixed_record({"d", "bsp+ps:servers=1,placement=colocated", 2, 1}),
      fixed_record({"g", "fusion:bucket-mb=25+ps:servers=1", 2, 1}),
      fixed_record({"e", "ddp:bucket-mb=25,first-bucket-mb=25", 2, 1}),
      fixed_record({"f", "ddp:bucket-mb=25,first-bucket-mb=25,views=yes", 2, 1})};
  const auto labels_of = [&](std::string_view strategy) {
    std::string labels;
    for (const RunRecord& record : select_records(records, "strategy", strategy)) {
      labels += record.configuration.label;
    }
    return labels;
  };
  EXPECT_EQ(labels_of("fusion"), "a");
  EXPECT_EQ(labels_of("fusion+topk:density=0.1"), "b");
  EXPECT_EQ(labels_of("ps"), "cd");
  EXPECT_EQ(labels_of("ps+bsp"), "cd");
  EXPECT_EQ(labels_of("ps:placement=apart"), "c");
  EXPECT_EQ(labels_of("bsp+ps:placement=colocated"), "d");
  EXPECT_EQ(labels_of("ddp"), "e");
  EXPECT_EQ(labels_of("ddp:bucket-mb=25,first-bucket-mb=25"), "e");
  EXPECT_EQ(labels_of("ddp:first-bucket-mb=25"), "ef");
  EXPECT_EQ(records::rejection([&] { labels_of("wfbp"); }),
            "no record has strategy 'wfbp'; there are 'bsp+ps:servers=1,placement=apart', "
            "'bsp+ps:servers=1,placement=colocated', 'ddp', 'ddp:views=yes', 'fusion', "
            "'fusion+ps:servers=1', 'fusion+topk:density=0.1'");
}

TEST(Pairing, SelectsByKey) {
  const std::vector<RunRecord> records = fixed_records();
  EXPECT_EQ(select_records(records, "ranks", "4").size(), 1u);
  EXPECT_EQ(select_records(records, "strategy", "none").size(), 3u);
  std::vector<RunRecord> with_options{fixed_record({"a", "ddp:x=1", 2, 1}),
                                      fixed_record({"b", "ddp-2", 2, 1})};
  EXPECT_EQ(select_records(with_options, "strategy", "ddp").size(), 1u);
  with_options[0].configuration.framework = "jax";
  const auto own = select_records(with_options, "framework", "paceline");
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0].configuration.strategy, "ddp-2");
  try {
    select_records(records, "strateg", "ddp");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_TRUE(
        std::string(error.what()).starts_with("unknown key 'strateg'; did you mean 'strategy'?"))
        << error.what();
  }
  try {
    select_records(records, "ranks", "3");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "no record has ranks '3'; there are '1', '2', '4', '8'");
  }
}

}  // namespace
}  // namespace paceline::report
