// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/report/formats.h"
#include "paceline/report/layouts.h"
#include "paceline/stats/quantile.h"
#include "report/fixed_records.h"

namespace paceline::report {
namespace {

using nlohmann::json;
using records::RunRecord;

std::string render_ddp(std::span<const RunRecord> records) {
  return find_format("ddp").render(records);
}

// The object of the only report of the records.
Json report_of(std::span<const RunRecord> records) {
  const Json reports = ddp_reports(records);
  EXPECT_EQ(reports.size(), 1U);
  return reports[0]["report"];
}

// One record whose only rank took these steps.
RunRecord record_of(std::vector<std::int64_t> step_ns) {
  RunRecord r = fixed_record({"no ddp", "none", 1, 1});
  r.ranks[0].step_ns = std::move(step_ns);
  return r;
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.rfind('\n');
  const std::size_t begin = text.rfind('\n', end - 1) + 1;
  return text.substr(begin, end - begin);
}

// numpy: percentile([.1, .2, .3, .4], [50, 75, 90, 95]) = .25 .325 .37 .385.
TEST(DdpFormat, RowIsTheOriginalsToTheCharacter) {
  EXPECT_EQ(
      last_line(render_ddp({{record_of({400'000'000, 100'000'000, 300'000'000, 200'000'000})}})),
      "   1 GPUs --   no ddp:  p50:  0.250s     128/s  p75:  0.325s      "
      "98/s  p90:  0.370s      86/s  p95:  0.385s      83/s");
}

TEST(DdpFormat, BannerAndHeaderAreTheOriginals) {
  RunRecord r = record_of({100'000'000});
  r.environment.torch_version = "1.4.0";
  r.environment.cuda_version = "10.0";
  r.configuration.engine = "nccl";
  const std::string text = render_ddp({{r}});
  EXPECT_EQ(text.substr(0, text.rfind("   1 GPUs")),
            "-----------------------------------\n"
            "PyTorch distributed benchmark suite\n"
            "-----------------------------------\n"
            "\n"
            "* PyTorch version: 1.4.0\n"
            "* CUDA version: 10.0\n"
            "* Distributed backend: nccl\n"
            "* Maximum bucket size: 25MB\n"
            "\n"
            "--- nvidia-smi topo -m ---\n"
            "\n"
            "Machine\n  Core 0\n  Core 1\n"
            "\n"
            "--------------------------\n"
            "\n"
            "\n"
            "Benchmark: resnet50 with batch size 32\n"
            "\n"
            "                            sec/iter    ex/sec      sec/iter    ex/sec      sec/iter  "
            "  ex/sec      sec/iter    ex/sec\n");
}

TEST(DdpFormat, LabelsArePaddedAsTheOriginalDoes) {
  const auto label = [](const std::string& name, int ranks) {
    RunRecord r = fixed_record({name, "ddp", ranks, 100});
    return last_line(render_ddp({{r}})).substr(0, 24);
  };
  EXPECT_EQ(label("1M/2G", 2), "   2 GPUs --    1M/2G:  ");
  EXPECT_EQ(label("12M/8G", 96), "  96 GPUs --    12M/8G: ");
  EXPECT_EQ(label("fusion", 2), "   2 GPUs --   fusion:  ");
}

TEST(DdpFormat, PercentilesPoolAllRanks) {
  RunRecord r = fixed_record({"1M/2G", "ddp", 2, 1});
  r.ranks[0].step_ns = {100'000'000, 100'000'000, 100'000'000};
  r.ranks[1].step_ns = {200'000'000, 200'000'000, 200'000'000};
  // The slowest rank's view would say 0.200 s.
  EXPECT_NE(last_line(render_ddp({{r}})).find("p50:  0.150s     213/s"), std::string::npos);
}

TEST(DdpFormat, EveryRecordOnlyAppends) {
  const std::vector<RunRecord> all = fixed_records();
  const std::string text = render_ddp(all);
  for (std::size_t n = 0; n <= all.size(); ++n) {
    EXPECT_TRUE(text.starts_with(render_ddp(std::span(all).first(n)))) << n;
  }
}

// The rules of the original's diff.py, facts as its readers see them: models and rows are paired by
// position, row 0 and rows of other rank counts are passed over, the change is in percent of the
// baseline's time.
std::string original_diff(const json& base, const json& test) {
  std::string out;
  const json& base_models = base.at("benchmark_results");
  const json& test_models = test.at("benchmark_results");
  for (std::size_t m = 0; m < std::min(base_models.size(), test_models.size()); ++m) {
    const json& b = base_models[m];
    const json& t = test_models[m];
    if (b.at("model") != t.at("model") || b.at("batch_size") != t.at("batch_size")) {
      continue;
    }
    const int batch = t.at("batch_size").get<int>();
    out += fmt::format("{} {}\n", t.at("model").get<std::string>(), batch);
    const json& b_rows = b.at("result");
    const json& t_rows = t.at("result");
    for (std::size_t i = 1; i < std::min(b_rows.size(), t_rows.size()); ++i) {
      const std::size_t ranks = t_rows[i].at("ranks").size();
      if (b_rows[i].at("ranks").size() != ranks) {
        continue;
      }
      const auto b_s = b_rows[i].at("measurements").get<std::vector<double>>();
      const auto t_s = t_rows[i].at("measurements").get<std::vector<double>>();
      out += fmt::format("{:4} GPUs:", ranks);
      for (const int p : {75, 95}) {
        const double before = stats::quantile(b_s, p / 100.0);
        const double after = stats::quantile(t_s, p / 100.0);
        out += fmt::format("  p{}: {:8.3f}s {:7}/s {:+8.1f}%", p, after,
                           static_cast<int>(batch / after), -100 * (after - before) / before);
      }
      out += "\n";
    }
  }
  return out;
}

std::string diff_of(const std::vector<RunRecord>& base, const std::vector<RunRecord>& test) {
  return original_diff(report_of(base), report_of(test));
}

RunRecord two_ranks(std::int64_t step_ns) {
  RunRecord r = fixed_record({"1M/2G", "ddp", 2, 1});
  r.ranks[0].step_ns = {step_ns, step_ns};
  r.ranks[1].step_ns = {step_ns, step_ns};
  return r;
}

TEST(DdpJson, DiffOfTheOriginalReadsIt) {
  const RunRecord plain = record_of({50'000'000});
  EXPECT_EQ(diff_of({plain, two_ranks(100'000'000)}, {plain, two_ranks(80'000'000)}),
            "resnet50 32\n"
            "   2 GPUs:  p75:    0.080s     400/s    +20.0%"
            "  p95:    0.080s     400/s    +20.0%\n");
}

TEST(DdpJson, ResultZeroIsAlwaysTheCaseWithoutDdp) {
  const RunRecord plain = record_of({50'000'000});
  const std::string expected =
      diff_of({plain, two_ranks(100'000'000)}, {plain, two_ranks(80'000'000)});
  // Absent, failed, or not the first one: no row moves.
  RunRecord failed = plain;
  failed.error = "out of memory";
  failed.ranks.clear();
  EXPECT_EQ(diff_of({two_ranks(100'000'000)}, {two_ranks(80'000'000)}), expected);
  EXPECT_EQ(diff_of({failed, two_ranks(100'000'000)}, {two_ranks(80'000'000)}), expected);
  EXPECT_EQ(diff_of({two_ranks(100'000'000), plain}, {plain, two_ranks(80'000'000)}), expected);
}

TEST(DdpJson, KeysStandInTheOriginalsOrderWithItsTypes) {
  const std::string text = report_of({{record_of({50'000'000})}}).dump();
  EXPECT_EQ(text, R"({"pytorch_version":"2.13.0+cpu","cuda_version":null,)"
                  R"("distributed_backend":"gloo","bucket_size":25,)"
                  R"("benchmark_results":[{"model":"resnet50","batch_size":32,)"
                  R"("result":[{"ranks":[0],"measurements":[0.05]}]}]})");
}

// Two sizes of buckets: the case without DDP is run once.
std::vector<RunRecord> two_buckets() {
  std::vector<RunRecord> records{record_of({50'000'000})};
  for (const double mb : {1.0, 0.5}) {
    records.push_back(two_ranks(100'000'000));
    records.back().configuration.bucket_mb = mb;
    records.back().configuration.strategy =
        fmt::format("ddp:first-bucket-mb={},bucket-mb={}", mb, mb);
  }
  records[0].configuration.bucket_mb = 1;
  return records;
}

TEST(DdpFormat, EachSizeOfBucketsHasItsBannerAndTheCaseWithoutDdp) {
  const std::vector<RunRecord> records = two_buckets();
  const std::string text = render_ddp(records);
  const std::vector<RunRecord> second{records[0], records[2]};
  const std::string first = render_ddp(std::span(records).first(2));
  EXPECT_NE(first.find("* Maximum bucket size: 1MB\n"), std::string::npos);
  EXPECT_NE(render_ddp(second).find("* Maximum bucket size: 0.5MB\n"), std::string::npos);
  EXPECT_EQ(text, first + "\n" + render_ddp(second));
}

TEST(DdpFormat, RowsOfOneNameSayInWhatTheyDiffer) {
  std::vector<RunRecord> records{two_ranks(100'000'000), two_ranks(100'000'000)};
  records[1].configuration.dtype = "bf16";
  const std::string text = render_ddp(records);
  EXPECT_NE(text.find("   2 GPUs --    1M/2G:  p50"), std::string::npos);
  EXPECT_NE(text.find("   2 GPUs --    1M/2G dtype=bf16:  p50"), std::string::npos);
  EXPECT_TRUE(text.starts_with(render_ddp(std::span(records).first(1))));
}

TEST(DdpJson, EachSizeOfBucketsIsAReport) {
  const std::vector<RunRecord> records = two_buckets();
  const Json reports = ddp_reports(records);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0]["name"], "1MB");
  EXPECT_EQ(reports[1]["name"], "0.5MB");
  EXPECT_EQ(reports[0]["report"]["bucket_size"], 1);
  EXPECT_EQ(reports[1]["report"]["bucket_size"], 0.5);
  for (const Json& one : reports) {
    const auto& results = one["report"]["benchmark_results"][0]["result"];
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0]["measurements"].size(), 1u);
  }
}

TEST(DdpJson, RowsOfOneNameAreInReportsOfTheirOwn) {
  std::vector<RunRecord> records{record_of({50'000'000}), two_ranks(100'000'000),
                                 two_ranks(90'000'000)};
  records[2].configuration.strategy = "fusion:bucket-mb=25";
  const Json reports = ddp_reports(records);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0]["name"], "");
  EXPECT_EQ(reports[1]["name"], "strategy_fusion");
  for (const Json& one : reports) {
    EXPECT_EQ(one["report"]["benchmark_results"][0]["result"].size(), 2u);
  }
}

TEST(DdpJson, RepetitionsArePooled) {
  const json report = report_of(fixed_repetitions());
  const json& result = report["benchmark_results"][0]["result"];
  ASSERT_EQ(result.size(), 2u);
  EXPECT_EQ(result[1]["ranks"], json::array({0, 1}));
  EXPECT_EQ(result[1]["measurements"].size(), 4u * 2u * 10u);
}

}  // namespace
}  // namespace paceline::report
