// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/records/run_record.h"
#include "paceline/report/formats.h"

namespace paceline::report {
namespace {

/// Two trainers with two epochs each and steps of 37.6 and 40 ms, a server and a master; the last
/// epoch has fewer samples than the first.
records::RunRecord record() {
  records::RunRecord r;
  r.configuration.model = "hybrid";
  r.configuration.ranks = 4;
  r.configuration.servers = 1;
  r.configuration.steps = 25;
  r.environment.torch_version = "2.13.0+cpu";
  r.environment.hosts = {{"a", {}, "Machine\n"}};
  for (int rank = 0; rank < 4; ++rank) {
    records::RankSamples s;
    s.rank = rank;
    for (int step = 0; rank < 2 && step < 25; ++step) {
      s.step_ns.push_back(rank == 0 ? 37'600'000 : 40'000'000);
      s.examples_of_step.push_back(step < 10 ? 9 : 7);
    }
    if (rank < 2) {
      s.lookups = records::LookupCounts{.rows = 1000,
                                        .distinct = {900},
                                        .id_bytes = 7400,
                                        .row_bytes = 230'600,
                                        .gradient_bytes = 230'600};
    }
    r.ranks.push_back(s);
  }
  return r;
}

std::string render_ddp_rpc(const std::vector<records::RunRecord>& records) {
  return find_format("ddp-rpc").render(records);
}

std::string render_trainers(const std::vector<records::RunRecord>& records) {
  return find_format("trainers").render(records);
}

/// Notes in one line each.
std::string unwrapped(std::string text) {
  for (std::size_t at; (at = text.find("\n ")) != std::string::npos;) {
    const auto end = text.find_first_not_of(' ', at + 1);
    text.replace(at, end - at, " ");
  }
  return text;
}

TEST(DdpRpcFormat, IsTheOriginalsToTheCharacter) {
  EXPECT_EQ(render_ddp_rpc({record()}),
            "-------------------------------------------\n"
            "                  Info                     \n"
            "-------------------------------------------\n"
            "\n"
            "* PyTorch version: 2.13.0+cpu\n"
            "* CUDA version: None\n"
            "\n"
            "------------ nvidia-smi topo -m -----------\n"
            "\n"
            "Machine\n"
            "\n"
            "-------------------------------------------\n"
            "PyTorch Distributed Benchmark (DDP and RPC)\n"
            "-------------------------------------------\n"
            "\n"
            "               sec/epoch epoch/sec     sec/epoch epoch/sec"
            "     sec/epoch epoch/sec     sec/epoch epoch/sec\n"
            "Trainer0:  p50:  0.376s     186/s  p75:  0.376s     186/s"
            "  p90:  0.376s     186/s  p95:  0.376s     186/s\n"
            "Trainer1:  p50:  0.400s     175/s  p75:  0.400s     175/s"
            "  p90:  0.400s     175/s  p95:  0.400s     175/s\n"
            "     All:  p50:  0.388s     360/s  p75:  0.400s     350/s"
            "  p90:  0.400s     350/s  p95:  0.400s     350/s\n");
}

// 80 samples an epoch on average, 160 of both trainers.
TEST(TrainersFormat, CountsTheSamplesThatWereProcessed) {
  const std::string text = render_trainers({record()});
  for (const char* expected : {"0.3760", "212.8", "200.0", "412.4", "400.0", "leaves 90.0 %"}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected << text;
  }
}

// A third of the lookups at the server missed something.
TEST(TrainersFormat, SaysHowStaleLookupsWere) {
  records::RunRecord stale = record();
  EXPECT_EQ(render_trainers({stale}).find("missed"), std::string::npos);
  stale.configuration.staleness = 64;
  stale.configuration.as_original = true;
  stale.ranks[2].averages_by_steps_missed = {20, 7, 0, 3};
  const std::string text = render_trainers({stale});
  for (const char* expected : {"2 trainers, 1 server, 300 rows of 64 in each table, gloo, "
                               "staleness 64, as the original\n",
                               "33.3 % of the lookups at servers missed updates, of 3 steps at "}) {
    EXPECT_NE(text.find(expected), std::string::npos) << text;
  }
}

TEST(TrainersFormat, SaysHowRowsAreUpdatedWhereItIsNotAsUsual) {
  records::RunRecord dense = record();
  dense.configuration.row_optimizer = "adagrad";
  dense.configuration.row_dtype = "bf16";
  const std::string text = render_trainers({dense});
  EXPECT_NE(text.find("gloo, row optimizer adagrad, row dtype bf16\n"), std::string::npos) << text;
}

// 4 steps of 9 samples each, 37.6 and 40 ms long.
TEST(TrainersFormat, SaysHowFastLessThanAnEpochWas) {
  records::RunRecord few = record();
  for (records::RankSamples& rank : few.ranks) {
    rank.step_ns.resize(std::min(rank.step_ns.size(), std::size_t{4}));
    rank.examples_of_step.resize(rank.step_ns.size());
  }
  const std::string expected =
      "less than 10 steps; examples/s over 4 steps: Trainer0 "
      "239.4, Trainer1 225.0, All 464.4";
  const std::string text = unwrapped(render_trainers({few}));
  EXPECT_NE(text.find(expected), std::string::npos) << text;
  EXPECT_NE(render_ddp_rpc({few}).find("\n" + expected + "\n"), std::string::npos);
}

TEST(TrainersFormat, ShowsTheSamplesUntilARunFailed) {
  records::RunRecord failed = record();
  failed.error = "rank 2 on a: was killed";
  failed.ranks.erase(failed.ranks.begin() + 1, failed.ranks.end());
  for (const std::string& text : {unwrapped(render_trainers({failed})), render_ddp_rpc({failed})}) {
    EXPECT_NE(text.find("rank 2 on a: was killed; shown are the samples until then"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("Trainer0"), std::string::npos) << text;
    EXPECT_EQ(text.find("no record is of"), std::string::npos);
  }
  failed.ranks.clear();
  for (const std::string& text : {render_trainers({failed}), render_ddp_rpc({failed})}) {
    EXPECT_NE(text.find("rank 2 on a: was killed\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("Trainer0"), std::string::npos) << text;
  }
}

TEST(TrainersFormat, NamesEveryPatternOfBytes) {
  records::RunRecord reduced = record();
  reduced.wire.by_pattern = {{"all-gather", 80}, {"message", 500}, {"reduce-scatter", 160}};
  const std::string text = unwrapped(render_trainers({reduced}));
  EXPECT_NE(
      text.find(
          "; by pattern: all-gather 80, message 500 (those of rows too), reduce-scatter 160\n"),
      std::string::npos)
      << text;
}

// The original has one table; of several each says whose it is.
TEST(DdpRpcFormat, SeveralTablesAreToldApart) {
  records::RunRecord again = record();
  again.run = 1;
  records::RunRecord larger = record();
  larger.configuration.embeddings = 9000;
  const std::vector<records::RunRecord> records{record(), again, larger};
  for (const auto& text : {render_ddp_rpc(records), render_trainers(records)}) {
    EXPECT_NE(text.find("300 rows of 64 in each table, gloo, run 2"), std::string::npos) << text;
    EXPECT_NE(text.find("9000 rows of 64 in each table, gloo\n"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace paceline::report
