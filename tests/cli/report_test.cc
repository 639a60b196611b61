// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/program.h"

namespace paceline {
namespace {

using Report = Program;

TEST_F(Report, ImportsNoFileWithoutAResult) {
  write("empty.log", "nothing of interest\n");
  const std::pair<const char*, const char*> sentences[] = {
      {"ddl", "holds no result in the form of ddl"},
      {"rates", "'nothing of interest' is not a known column"}};
  for (const auto& [from, sentence] : sentences) {
    const Outcome outcome =
        run(std::string("import empty.log --records none.jsonl --from ") + from);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(folder_ / "none.jsonl"));
  }
}

TEST_F(Report, ImportsOurLogsAndLeavesOutACaseWithoutAResult) {
  const std::string head = "# survey, 2026-01-01T00:00:00Z\n# records: s.jsonl\n# paceline run\n";
  write("failed.log", head + "# failed: a rank died\n");
  write("lenet.log", head +
                         "Model: lenet\nBatch size: 8\nNumber of CPUs: 2\n"
                         "Iter #0: 10.0 img/sec per CPU\n"
                         "Img/sec per CPU: 10.0 +-0.0\n"
                         "Total img/sec on 2 CPU(s): 20.0 +-0.0\n");
  const Outcome both = run("import failed.log lenet.log --format csv");
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_NE(both.err.find("failed.log: its case has no result, left out"), std::string::npos)
      << both.err;
  EXPECT_NE(both.out.find("lenet"), std::string::npos) << both.out;
  for (const char* command : {"report", "report --format csv"}) {
    const Outcome shown = run(fmt::format("{} failed.log lenet.log", command));
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_EQ(shown.err, "paceline: failed.log: its case has no result, left out\n");
    EXPECT_NE(shown.out.find("lenet"), std::string::npos) << shown.out;
  }
  write("cut.log", "Model: lenet\nBatch size: 8\nRunning warmup...\nTraceback\n");
  const Outcome cut = run("report cut.log lenet.log");
  EXPECT_EQ(cut.exit_code, 0) << cut.err;
  EXPECT_EQ(cut.err, "paceline: cut.log: its case has no result, left out\n");
  const Outcome none = run("import failed.log");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("paceline: no file has a result\n"), std::string::npos) << none.err;
}

TEST_F(Report, AppendsResultsOfNcclTestsToRecords) {
  write("nccl.log",
        "$ ./build/all_reduce_perf -b 8 -e 8 -f 2 -g 1\n"
        "#  Rank  0 Group  0 Pid   5092 on  one device  0 [0x21] RTX 5090\n"
        "#  size   count   type  redop  root  time  algbw  busbw #wrong  time"
        "  algbw  busbw #wrong\n"
        "      8       2  float    sum    -1  5.63   0.00   0.00      0  5.61"
        "   0.00   0.00      0\n");
  const Outcome rejected = run("import nccl.log --records r.jsonl --format ddp");
  EXPECT_EQ(rejected.exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r.jsonl"));
  for (const char* end : {"r.jsonl\n", ", 1 of them not for the first time\n"}) {
    const Outcome outcome = run("import nccl.log --records r.jsonl");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(outcome.err.ends_with(end)) << outcome.err;
    EXPECT_EQ(lines_of(folder_ / "r.jsonl"), 1);
  }
  write("other.jsonl", "{}\n");
  EXPECT_EQ(run("import nccl.log --records other.jsonl").exit_code, 2);
  EXPECT_EQ(lines_of(folder_ / "other.jsonl"), 1);
}

TEST_F(Report, TellsWhatTheProgramOfALogFoundWrong) {
  const std::string begin =
      "$ ./build/sendrecv_perf -g 2\n"
      "#  Rank  0 Group  0 Pid   5092 on  one device  0 [0x21] RTX 5090\n"
      "#  Rank  1 Group  0 Pid   5092 on  one device  1 [0x22] RTX 5090\n"
      "#  size   count   type  redop  root  time  algbw  busbw #wrong  time"
      "  algbw  busbw #wrong\n"
      "   65536  16384  float   none    -1  5.63  11.64  11.64      0  5.60"
      "  11.70  11.70      ";
  write("wrong.log", begin + "4\n# Out of bounds values : 1 FAILED\n");
  const Outcome wrong = run("import wrong.log");
  EXPECT_EQ(wrong.exit_code, 3) << wrong.err;
  EXPECT_NE(wrong.out.find("4 WRONG ELEMENTS IN PLACE"), std::string::npos) << wrong.out;
  write("contradiction.log", begin + "4\n# Out of bounds values : 0 OK\n");
  const Outcome contradiction = run("import contradiction.log");
  EXPECT_EQ(contradiction.exit_code, 2) << contradiction.err;
  EXPECT_NE(contradiction.err.find("contradiction.log:6: the log says 0 values"), std::string::npos)
      << contradiction.err;
  const Outcome other = run("report wrong.log");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("has records of operations"), std::string::npos) << other.err;
}

TEST_F(Report, ShowsRecordsInEveryForm) {
  fs::copy(fs::path(PACELINE_SOURCE_DIR) / "tests/records/corpus/good-full.jsonl",
           folder_ / "r.jsonl");
  EXPECT_NE(run("report r.jsonl").out.find("resnet18"), std::string::npos);
  for (const auto& [file, begin] : {std::pair{"r.html", "<!doctype html>"},
                                    {"r.md", "### resnet18"},
                                    {"r.csv", "case,source,"},
                                    {"r.json", "{"}}) {
    SCOPED_TRACE(file);
    const Outcome outcome = run(std::string("report r.jsonl -o ") + file);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(outcome.err.ends_with(std::string(file) + "\n")) << outcome.err;
    std::ifstream in(folder_ / file);
    std::string text(std::istreambuf_iterator<char>(in), {});
    EXPECT_TRUE(text.starts_with(begin)) << text.substr(0, 100);
  }
  EXPECT_NE(run("report r.jsonl --format page --title '<T>'").out.find("<h1>&lt;T&gt;</h1>"),
            std::string::npos);
}

TEST_F(Report, RejectsWhatItCannotShow) {
  fs::copy(fs::path(PACELINE_SOURCE_DIR) / "tests/records/corpus/good-full.jsonl",
           folder_ / "r.jsonl");
  write("empty.jsonl", "");
  expect_rejected("report", "paceline: records is required");
  expect_rejected("report none.jsonl", "paceline: cannot read none.jsonl: ");
  expect_rejected("report empty.jsonl", "paceline: empty.jsonl: holds no rec");
  expect_rejected("report r.jsonl ./r.jsonl", "paceline: ./r.jsonl: given twice");
  expect_rejected("report r.jsonl -o r.jsonl",
                  "paceline: --output: 'r.jsonl' is a file of records to read");
  expect_rejected("report r.jsonl -o no/such/r.html", "paceline: --output");
  expect_rejected(
      "report r.jsonl -o r.pdf",
      "paceline: --output: 'r.pdf' ends in .pdf, which is no format; allowed are .html, "
      ".htm, .md, .csv, .json, .txt or no ending");
  expect_rejected("report r.jsonl --format pgae",
                  "paceline: --format: unknown format 'pgae'; did you mean 'page'?");
  expect_rejected("report r.jsonl --title T", "paceline: --title: only a page");
  EXPECT_EQ(lines_of(folder_ / "r.jsonl"), 1);
}

// The reader's own tests take every file of the corpus; these are one of each kind.
TEST_F(Report, NeverFallsOverADamagedFile) {
  for (const char* name : {"truncated", "future-version", "not-utf8", "nul-bytes", "huge-number"}) {
    SCOPED_TRACE(name);
    const Outcome outcome = run(std::string("report '") + PACELINE_SOURCE_DIR +
                                "/tests/records/corpus/" + name + ".jsonl' -o r.html");
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(".jsonl:1: "), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(folder_ / "r.html"));
  }
}

}  // namespace
}  // namespace paceline
