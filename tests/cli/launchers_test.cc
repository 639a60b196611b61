// SPDX-License-Identifier: Apache-2.0
// The program itself under a launcher of others, which PACELINE_LAUNCHER is the beginning of the
// command line of: its ranks are joined, and records come out. PACELINE_FLAGS are of every run.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "engines/rank_program.h"
#include "paceline/records/store.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

class PACELINE_SUITE : public ::testing::Test {
 protected:
  PACELINE_SUITE() {
    std::string name = fs::temp_directory_path() / "paceline-launcher-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~PACELINE_SUITE() override { fs::remove_all(folder_); }

  testing::Said run(const std::string& arguments, const std::string& command = "run") const {
    return testing::run_marked(PACELINE_LAUNCHER " PROGRAM " + command + " " PACELINE_FLAGS " " +
                               arguments);
  }

  /// Runs a case that is soon over and one that has no end; sends `victim` the signal when the
  /// second one trains, and SIGKILL when the second case's record is written or after 20 s.
  /// Returns the records.  A process that the victim has forked has a larger number.
  std::vector<records::RunRecord> run_into(const std::string& signal, int victim) const {
    const fs::path script = folder_ / "script";
    std::ofstream(script)
        << "cd '" << folder_.string() << "'\n"
        << PACELINE_LAUNCHER " " PACELINE_RANK_PROGRAM " run " PACELINE_FLAGS
        << " --model mlp --device cpu --strategy bsp --batch-size 4 --warmup 1 --steps 3,100000000 "
           "--yes --timeout 8 --format csv --records r.jsonl &\n"
        << "launcher=$!\n"
           "until [ -s r.jsonl ]; do sleep 0.05; done\n"
           "sleep 3\n"
           "for p in /proc/[0-9]*; do\n"
           "  tr '\\0' '\\n' <$p/environ 2>/dev/null >variables\n"
           "  grep -qx \"PACELINE_TEST_MARK=$PACELINE_TEST_MARK\" variables "
           "&&\n"
           "  grep -qE '^(RANK|OMPI_COMM_WORLD_RANK|SLURM_PROCID)="
        << victim
        << "$' variables &&\n"
           "  grep -q paceline $p/comm || continue\n"
           "  p=${p#/proc/}\n"
           "  [ ${victim:-$p} -lt $p ] || victim=$p\n"
           "done\n"
           "kill -"
        << signal
        << " $victim\n"
           "[ "
        << signal
        << " = KILL ] || {\n"
           "  tries=200\n"
           "  until [ $(wc -l <r.jsonl) -ge 2 ] || [ $tries -eq 0 ]; do\n"
           "    sleep 0.1\n"
           "    tries=$((tries - 1))\n"
           "  done\n"
           "  kill -KILL $victim 2>/dev/null\n"
           "}\n"
           "wait $launcher\n";
    const testing::Said said = testing::run_marked("sh " + script.string());
    EXPECT_NE(said.exit_code, 0) << said.text;
    const auto records = records::read_records(folder_ / "r.jsonl").records;
    EXPECT_FALSE(records.empty()) << said.text;
    return records;
  }

  fs::path folder_;
};

// The samples of rank 0, which lived on, are in the record of the case.
TEST_F(PACELINE_SUITE, RecordsTheSamplesOfACaseThatARanksDeathEnds) {
  const auto records = run_into("KILL", 1);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_FALSE(records[0].error);
  EXPECT_TRUE(records[1].error);
  ASSERT_EQ(records[1].ranks.size(), 1U);
  EXPECT_EQ(records[1].ranks[0].rank, 0);
  EXPECT_FALSE(records[1].ranks[0].step_ns.empty());
}

// Its process writes the records: the finished case has one.
TEST_F(PACELINE_SUITE, KeepsFinishedCasesWhereRank0Dies) {
  const auto records = run_into("KILL", 0);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_FALSE(records[0].error);
}

TEST_F(PACELINE_SUITE, KeepsFinishedCasesWhereRank0IsStopped) {
  if (std::string(PACELINE_FLAGS) != "") {
    GTEST_SKIP() << "the store is the same with every engine";
  }
  const auto records = run_into("STOP", 0);
  ASSERT_GE(records.size(), 1U);
  EXPECT_FALSE(records[0].error);
}

TEST_F(PACELINE_SUITE, RecordsTheSignalByWhichRank0AloneWasAskedToStop) {
  if (std::string(PACELINE_FLAGS) != "") {
    GTEST_SKIP() << "a rank is asked in the same way with every engine";
  }
  const auto records = run_into("TERM", 0);
  ASSERT_GE(records.size(), 2U);
  const std::string error = records[1].error.value_or("");
  EXPECT_TRUE(error.starts_with("rank 0 on host ")) << error;
  EXPECT_TRUE(error.ends_with(": was asked to stop by SIGTERM")) << error;
}

TEST_F(PACELINE_SUITE, RunsEveryCaseOnItsRanksAndLeavesRecords) {
  const fs::path path = folder_ / "records.jsonl";
  const testing::Said said =
      run("--model mlp --device cpu --ranks 1,2 --strategy bsp --batch-size 4 --warmup 1 --steps 3 "
          "--format csv --records " +
          path.string());
  ASSERT_EQ(said.exit_code, 0) << said.text;
  EXPECT_TRUE(said.contains("records: " + path.string())) << said.text;
  const auto records = records::read_records(path, records::BrokenTail::kReject).records;
  ASSERT_EQ(records.size(), 2U);
  for (const records::RunRecord& record : records) {
    const auto ranks = static_cast<std::size_t>(record.configuration.ranks);
    EXPECT_EQ(record.error, std::nullopt);
    ASSERT_EQ(record.ranks.size(), ranks);
    for (const records::RankSamples& rank : record.ranks) {
      EXPECT_EQ(rank.step_ns.size(), 3U);
    }
    if (ranks == 2) {
      EXPECT_EQ(record.verified,
                (std::map<std::string, bool>{{"integer_sums", true},
                                             {"ranks_hold_equal_parameters", true}}));
      EXPECT_EQ(record.ranks[1].local_rank, 1);
    }
  }
}

// PowerSGD takes whole tensors, and whether the schedule cuts them is known once layers and
// collectives have been timed.
TEST_F(PACELINE_SUITE, ACaseThatIsRejectedOnceItHasBegunIsAFailedOne) {
  const fs::path path = folder_ / "records.jsonl";
  const std::string line =
      "--model mlp --device cpu --ranks 2 --batch-size 4 --warmup 0 --steps 2 --format csv "
      "--records " +
      path.string() + " --strategy ";
  const std::string rejected = "bytescheduler:partition-mb=0.01+powersgd";
  EXPECT_NE(run(line + rejected).exit_code, 0);
  EXPECT_FALSE(fs::exists(path)) << "it is the only case";
  const testing::Said said = run(line + rejected + ",bsp");
  EXPECT_NE(said.exit_code, 0) << said.text;
  EXPECT_TRUE(said.contains("1 case failed; --resume tries it again")) << said.text;
  const auto records = records::read_records(path, records::BrokenTail::kReject).records;
  ASSERT_EQ(records.size(), 2U) << said.text;
  EXPECT_TRUE(records[0].error.value_or("").starts_with("powersgd takes whole tensors"))
      << records[0].error.value_or("");
  EXPECT_EQ(records[1].error, std::nullopt);
  EXPECT_EQ(records[1].ranks.size(), 2U);
}

TEST_F(PACELINE_SUITE, TellsAMistakeOnce) {
  for (const auto& [command, arguments] : {std::pair{"run", "--model mlp --device cpu --ranks 3"},
                                           {"comm", "--device cpu --ranks 3"}}) {
    const testing::Said said = run(arguments, command);
    EXPECT_NE(said.exit_code, 0);
    const std::string sentence = "--ranks: '3', but 2 were started";
    const auto first = said.text.find(sentence);
    ASSERT_NE(first, std::string::npos) << said.text;
    EXPECT_EQ(said.text.find(sentence, first + 1), std::string::npos) << said.text;
  }
}

}  // namespace
}  // namespace paceline
