// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/advise.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/predict/error_bar.h"

namespace paceline::predict {
namespace {

AdviseRequest request_of(plan::Rank ranks) {
  AdviseRequest request;
  request.job.network = plan::network_shape("resnet50");
  request.job.cluster =
      cluster::read_cluster(std::string(PACELINE_SOURCE_DIR) + "/clusters/8x4-2080ti-10gbe.toml");
  request.job.ranks = ranks;
  request.job.engine = "nccl-2.4";
  request.bucket_mb = {10, 25};
  request.partition_mb = {4};
  return request;
}

/// Of 8 ranks; priced once for all tests.
const AdviceTable& table() {
  static const AdviceTable of_eight = advise(request_of(8));
  return of_eight;
}

bool holds(const std::vector<std::string>& all, const std::string& text) {
  return std::ranges::any_of(
      all, [&](const std::string& it) { return it.find(text) != std::string::npos; });
}

TEST(Advise, ComparesWhatGivesTheSameUpdate) {
  const auto all = candidates(request_of(8), 2);
  EXPECT_TRUE(holds(all, "fusion:bucket-mb=10"));
  EXPECT_TRUE(holds(all, "bytescheduler:partition-mb=4,credit-mb=16"));
  EXPECT_TRUE(holds(all, "ddp:bucket-mb=25"));
  EXPECT_TRUE(holds(all, "+hierarchical"));
  for (const std::string& it : all) {
    EXPECT_EQ(strategies::parse_strategy(it).guarantee(), strategies::Guarantee::kExact) << it;
  }
  EXPECT_FALSE(holds(candidates(request_of(4), 1), "hierarchical"));
}

TEST(Advise, ComparesOtherUpdatesWhereTheyAreWelcome) {
  AdviseRequest request = request_of(8);
  request.includes_inexact_updates = true;
  const auto all = candidates(request, 2);
  for (const char* text :
       {"+fp16", "+bf16", "topology=ring", "topology=exp", "topology=one-peer-exp",
        "topology=inner-outer-exp", "+hierarchical-neighbor-allreduce", "+awc"}) {
    EXPECT_TRUE(holds(all, text)) << text;
  }
  const AdviceTable table = advise(request);
  for (const Advice& row : table.rows) {
    const std::string& strategy = row.configuration.strategy;
    const bool neighbors = strategy.find("neighbor") != std::string::npos;
    EXPECT_EQ(caution(row.guarantee).find("convergence") != std::string::npos, neighbors)
        << strategy;
  }
}

TEST(Advise, PricesServersBesideTheWorkers) {
  std::size_t servers = 0;
  for (const Advice& row : table().rows) {
    const strategies::StrategySpec spec = strategies::parse_strategy(row.configuration.strategy);
    const bool serves = spec.whole.row == nullptr && spec.exchange.row->name == "ps";
    if (serves) {
      ++servers;
      EXPECT_EQ(family_of(spec), nullptr);  // servers beside the workers
      EXPECT_FALSE(row.bar.validated);
    }
  }
  EXPECT_EQ(servers, 6U);  // three schedules, with and without a sum on hosts
  EXPECT_FALSE(holds(candidates(request_of(1), 1), "ps"));
  EXPECT_FALSE(holds(candidates(request_of(33), 9), "ps"));
}

TEST(Advise, FamiliesAreThoseOfTheErrorTable) {
  const auto family = [](const char* strategy) {
    return family_of(strategies::parse_strategy(strategy));
  };
  EXPECT_EQ(family("bsp"), family("fusion"));
  EXPECT_EQ(family("bytescheduler")->family, "scheduled");
  EXPECT_EQ(family("ddp")->family, "reducer");
  EXPECT_EQ(family("dear"), nullptr);
  EXPECT_EQ(family("wfbp+ps:placement=apart,assign=hash,local=0")->family, "servers");
  EXPECT_EQ(family("wfbp+ps:placement=apart"), nullptr);
  EXPECT_EQ(family("wfbp+ps"), nullptr);
  EXPECT_EQ(
      family("fusion+neighbor-allreduce:topology=inner-outer-exp+awc:window=backward")->family,
      "neighbors");
  EXPECT_EQ(family("fusion+hierarchical-neighbor-allreduce:topology=one-peer-exp,style=leader+awc:"
                   "window=backward")
                ->family,
            "neighbors");
  EXPECT_EQ(family("fusion+neighbor-allreduce"), nullptr);
  EXPECT_EQ(family("fusion+neighbor-allreduce:topology=ring+awc"), nullptr);
  EXPECT_EQ(family("fusion+fp16"), nullptr);
  EXPECT_EQ(family("wfbp+hierarchical"), nullptr);
  for (const FamilyErrors& row : error_table().families) {
    EXPECT_LE(row.p90_percent, largest_errors().p90_percent);
    EXPECT_LT(row.mean_percent, row.p90_percent);
    EXPECT_FALSE(row.strategies.empty());
    for (const std::string& strategy : row.strategies) {
      EXPECT_EQ(family(strategy.c_str()), &row) << strategy;
    }
  }
}

TEST(Advise, ErrorsAreThoseOfTheFamily) {
  int validated = 0, others = 0;
  for (const Advice& row : table().rows) {
    const strategies::StrategySpec spec = strategies::parse_strategy(row.configuration.strategy);
    ASSERT_TRUE(row.bar.known());
    // PyTorch's reducer was validated on other machines, ByteScheduler with its Python.
    const FamilyErrors* family = family_of(spec);
    const bool known = family != nullptr && family->family == "merged";
    EXPECT_EQ(row.bar.validated, known) << row.configuration.strategy;
    EXPECT_EQ(*row.bar.share, (known ? *family : largest_errors()).p90_percent / 100);
    EXPECT_EQ(row.low,
              std::llround(static_cast<double>(row.step) * std::max(0.0, 1 - *row.bar.share)));
    (known ? validated : others) += 1;
  }
  EXPECT_GT(validated, 0);
  EXPECT_GT(others, 0);
}

// Two of one family are told apart by less than their bars, of which much is common to both.
TEST(Advise, MarksWhatCannotBeToldFromTheFirst) {
  const Advice& first = table().rows.front();
  int by_pairs = 0, by_intervals = 0;
  for (const Advice& row : table().rows) {
    const auto apart = least_distinguishable_share(first.bar, row.bar);
    const double ratio = static_cast<double>(row.step) / static_cast<double>(first.step);
    EXPECT_EQ(row.ties_with_best, apart ? ratio <= 1 + *apart : row.low <= first.high)
        << row.configuration.strategy;
    (apart ? by_pairs : by_intervals) += 1;
  }
  EXPECT_GT(by_pairs, 0);
  EXPECT_GT(by_intervals, 0);
}

// What is off in both of two steps does not tell them apart, nor does it keep them together.
TEST(Advise, TellsApartByMeasuredFigures) {
  AdviseRequest request = request_of(8);
  request.bucket_mb = {25};
  MeasuredFigure figure{.words = "8 ranks", .ranks = 8, .strategy = "bsp"};
  request.job.strategy = "bsp";
  figure.step_s = 1.1 * plan::seconds_of(step_of(request.job).step);
  request.fit = std::make_shared<MeasuredFit>(request.job, std::vector{figure});
  request.job = request.fit->priced(request.job);
  const AdviceTable table = advise(request);
  const Advice& first = table.rows.front();
  int like = 0, unlike = 0;
  for (const Advice& row : table.rows) {
    ASSERT_TRUE(row.errors);
    const auto spec = strategies::strategy_of(row.configuration);
    EXPECT_EQ(row.errors->strategy == 0, spec.text() == "bsp") << spec.text();
    PredictRequest job = request.job;
    job.strategy = row.configuration.strategy;
    const stats::Interval interval = request.fit->interval_of(job);
    EXPECT_NEAR(plan::seconds_of(row.low) / interval.low, 1, 1e-9);
    EXPECT_NEAR(plan::seconds_of(row.high) / interval.high, 1, 1e-9);
    const double ratio = static_cast<double>(row.step) / static_cast<double>(first.step);
    EXPECT_EQ(row.ties_with_best,
              ratio <= 1 + least_distinguishable_share(*first.errors, *row.errors));
    (row.ties_with_best ? like : unlike) += 1;
  }
  EXPECT_GT(like, 1);
  EXPECT_GT(unlike, 1);
}

TEST(Advise, PrefersWhatWasMeasuredAmongWhatCannotBeToldApart) {
  AdviceTable table;
  for (const double strategy : {0.03, 0.03, 0.0}) {
    Advice row;
    row.bar = {.share = 0.1 - strategy, .validated = true};
    row.errors = StepErrors{.strategy = strategy};
    row.ties_with_best = true;
    table.rows.push_back(row);
  }
  EXPECT_EQ(&table.winner(), &table.rows[2]);
  table.rows[2].ties_with_best = false;
  table.rows[1].bar.share = 0.01;  // what else is off is off of every strategy
  EXPECT_EQ(&table.winner(), &table.rows[0]);
}

Advice row_of(double step, double share, bool validated) {
  Advice row;
  row.step = std::llround(step);
  row.bar = {.share = share, .validated = validated};
  row.ties_with_best = true;
  return row;
}

TEST(Advise, PrefersWhatWasValidatedAmongWhatCannotBeToldApart) {
  AdviceTable table;
  table.rows = {row_of(1, 0.7, false), row_of(2, 0.5, true), row_of(3, 0.1, true),
                row_of(4, 0.1, true)};
  EXPECT_EQ(&table.winner(), &table.rows[2]);
  table.rows[2].ties_with_best = table.rows[3].ties_with_best = false;
  EXPECT_EQ(&table.winner(), &table.rows[1]);
  table.rows[1].bar.validated = false;
  EXPECT_EQ(&table.winner(), &table.rows[0]);
}

TEST(Advise, TellsNothingApartOnABareRoofline) {
  AdviseRequest request = request_of(1);
  request.job.network = plan::network_shape("vgg16");
  const AdviceTable bare = advise(request);
  for (const Advice& row : bare.rows) {
    EXPECT_FALSE(row.bar.known());
    EXPECT_FALSE(row.ties_with_best);
    EXPECT_EQ(row.low, row.high);
  }
  EXPECT_NE(bare.rows.front().bar.why.find("not measured"), std::string::npos);
  ASSERT_EQ(bare.warnings.size(), 1U);  // of all predictions, once
  EXPECT_EQ(bare.warnings.front().code, "no-throughput");
  request.error = 0;
  for (const Advice& row : advise(request).rows) {
    EXPECT_TRUE(row.bar.known());
  }
  ASSERT_EQ(table().warnings.size(), 1U);
  EXPECT_EQ(table().warnings.front().code, "launches-of-a-published-program");
}

TEST(Advise, SaysWhichBucketSizeToUse) {
  const auto fusion = std::ranges::find(table().buckets, "fusion", &BucketAdvice::strategy);
  ASSERT_NE(fusion, table().buckets.end());
  const auto first = std::ranges::find_if(table().rows, [](const Advice& row) {
    const std::string& strategy = row.configuration.strategy;
    return strategy.starts_with("fusion:") && strategy.find('+') == std::string::npos;
  });
  EXPECT_NE(first->configuration.strategy.find("bucket-mb=" +
                                               std::to_string(static_cast<int>(fusion->best))),
            std::string::npos);
  EXPECT_GE(fusion->worst_ratio, 1);
  EXPECT_FALSE(fusion->like.empty());
}

}  // namespace
}  // namespace paceline::predict
