// SPDX-License-Identifier: Apache-2.0
// `paceline comm` from outside: every operation on two real processes.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "paceline/cluster/cluster.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int exit_code = -1;
  std::string out;  // with what went to stderr
};

/// A folder of its own, gone after the test, in which the program runs.
class Comm : public ::testing::Test {
 protected:
  Comm() {
    std::string name = fs::temp_directory_path() / "paceline-comm-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~Comm() override { fs::remove_all(folder_); }

  Outcome run(const std::string& arguments, const std::string& program = PACELINE_PROGRAM) const {
    const std::string line =
        "cd '" + folder_.string() + "' && '" + program + "' " + arguments + " 2>&1 </dev/null";
    Outcome outcome;
    FILE* pipe = popen(line.c_str(), "r");
    std::array<char, 4096> buffer{};
    while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
      outcome.out.append(buffer.data(), n);
    }
    outcome.exit_code = WEXITSTATUS(pclose(pipe));
    return outcome;
  }

  std::vector<nlohmann::json> records(const std::string& name) const {
    std::ifstream file(folder_ / name);
    std::vector<nlohmann::json> all;
    for (std::string line; std::getline(file, line);) {
      all.push_back(nlohmann::json::parse(line));
    }
    return all;
  }

  std::string text(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path folder_;
};

TEST_F(Comm, MeasuresEveryOperationWithRightValuesBelowTheLine) {
  const Outcome outcome =
      run("comm --ranks 2 --min 4B --max 4MiB --factor 1024 --iterations 3 --warmup 1 --records "
          "r.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  const auto all = records("r.jsonl");
  EXPECT_EQ(all.size(), 5U * 3U);
  std::set<std::string> operations;
  for (const auto& r : all) {
    operations.insert(r.at("operation"));
    EXPECT_EQ(r.at("wrong_elements"), 0);
    EXPECT_EQ(r.at("iteration_ns").size(), 3U);
    const double share = r.at("bytes_per_s").at("wire_share_of_line");
    EXPECT_GT(share, 0);
    EXPECT_LE(share, 1) << r.at("operation") << r.at("bytes");
    EXPECT_FALSE(r.at("environment").at("hosts").empty());
  }
  EXPECT_EQ(operations.size(), 5U);
  // Two ranks: an all-reduce sends its size, the shards half of it.
  EXPECT_EQ(all.at(2).at("wire_bytes"), 4 << 20);
  EXPECT_EQ(all.at(5).at("wire_bytes"), 2 << 20);
  EXPECT_NE(outcome.out.find("all-reduce, 2 ranks (2), gloo on cpu, fp32"), std::string::npos)
      << outcome.out;
}

TEST_F(Comm, FitsAreWrittenToTheirFileAndNamedByAClusterFile) {
  const std::string lab =
      "collectives = \"fitted.toml\"\n[[hosts]]\nname = \"localhost\"\n"
      "slots = 2\n";
  const std::string comm =
      "comm --ranks 2 --max 16KiB --only all-reduce,message --iterations 2 --fit fitted.toml "
      "--records r.jsonl --format csv";
  const Outcome outcome = run(comm);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  const cluster::Cluster measured = cluster::read_cluster((folder_ / "fitted.toml").string());
  EXPECT_EQ(measured.source, "paceline " + comm + "; 4 to 16384 bytes");
  EXPECT_EQ(measured.slots(), 2);
  std::ofstream(folder_ / "lab.toml") << lab;
  const cluster::Cluster cluster = cluster::read_cluster((folder_ / "lab.toml").string());
  ASSERT_EQ(cluster.links.size(), 1U);
  EXPECT_EQ(cluster.links[0].scope, cluster::LinkScope::kDevices);
  ASSERT_EQ(cluster.links[0].fits.size(), 2U);
  EXPECT_EQ(cluster.links[0].fits[0].operation, "all-reduce");
  EXPECT_EQ(cluster.links[0].fits[1].operation, "message");
  EXPECT_EQ(cluster.links[0].fits[0].engine, "gloo");
  EXPECT_EQ(cluster.links[0].fits[0].device, "cpu");
  EXPECT_TRUE(cluster.links[0].fits[0].error_percent.has_value());
  // The file of an earlier measurement is replaced.
  EXPECT_EQ(run(comm + " --cluster lab.toml").exit_code, 0);
  EXPECT_EQ(text("lab.toml"), lab);
}

// Every duration is the modelled one or longer, so no wire is above the line.
TEST_F(Comm, BehindAnEmulatedLinkTheLineIsTheLinks) {
  const Outcome outcome =
      run("comm --ranks 2 --link 100Mbit,1ms --only all-reduce,message --min 125kB --max 125kB "
          "--iterations 3 --warmup 1 --records r.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  const auto all = records("r.jsonl");
  ASSERT_EQ(all.size(), 2U);
  // 125 kB at 100 Mbit/s, and two latencies of a ring or one of a message.
  for (const auto& [row, modelled_ns] : {std::pair{0, 12'000'000}, {1, 11'000'000}}) {
    const auto& r = all.at(row);
    EXPECT_EQ(r.at("link"), "100Mbit,1ms");
    EXPECT_EQ(r.at("wire_bytes"), 125'000);
    EXPECT_EQ(r.at("bytes_per_s").at("line"), 12'500'000);
    EXPECT_GE(r.at("duration_ns").at("min"), modelled_ns);
    EXPECT_LE(r.at("bytes_per_s").at("wire_share_of_line"), 10'000'000.0 / modelled_ns);
    EXPECT_TRUE(r.at("warnings").empty());
  }
  for (const auto& r : all) {
    EXPECT_TRUE(r.at("link_slack_ns").is_number());
    EXPECT_TRUE(r.at("valid").is_boolean());
  }
  EXPECT_NE(outcome.out.find("line        0.013 GB/s, that of the emulated link\n"),
            std::string::npos)
      << outcome.out;
}

TEST_F(Comm, AnEngineThatIsSlowerThanTheLinkIsInvalid) {
  const Outcome outcome =
      run("comm --ranks 2 --link 100000Gbit --only all-reduce --min 1MiB --max 1MiB --iterations 2 "
          "--records r.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_NE(outcome.out.find("INVALID: slower than the link makes it"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(records("r.jsonl").at(0).at("valid"), false);
  EXPECT_LT(records("r.jsonl").at(0).at("link_slack_ns"), 0);
}

TEST_F(Comm, AFileThatCommDidNotWriteIsNotReplaced) {
  const std::string lab = "[[hosts]]\nname = \"localhost\"\nslots = 2\n";
  std::ofstream(folder_ / "lab.toml") << lab;
  const Outcome outcome = run("comm --cluster lab.toml --fit lab.toml --records r.jsonl");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
  EXPECT_EQ(outcome.out,
            "paceline: --fit lab.toml: exists, and paceline comm did not write it; name another "
            "file\n");
  EXPECT_EQ(text("lab.toml"), lab);
  EXPECT_TRUE(records("r.jsonl").empty());
}

TEST_F(Comm, ALatencyThatWasNotMeasuredIsZero) {
  const Outcome outcome =
      run("comm --ranks 2 --max 16KiB --only all-reduce,all-reduce --iterations 2 --fit new.toml "
          "--records r.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  const cluster::Cluster measured = cluster::read_cluster((folder_ / "new.toml").string());
  EXPECT_EQ(measured.links.at(0).latency_ps, 0);
  EXPECT_EQ(measured.links.at(0).fits.at(0).ranks_per_host, std::vector<int>{2});
  EXPECT_NE(outcome.out.find("the link's latency is 0"), std::string::npos) << outcome.out;
  EXPECT_EQ(records("r.jsonl").size(), 7U);  // 4 B .. 16 KiB, each once
}

TEST_F(Comm, SizesThatRoundToTheSameAreMeasuredOnce) {
  const Outcome outcome =
      run("comm --ranks 2 --min 4 --max 12 --factor 1.1 --only all-reduce --iterations 1 --records "
          "r.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  const auto all = records("r.jsonl");
  ASSERT_EQ(all.size(), 2U);  // the last of the sizes is 11
  EXPECT_EQ(all[0].at("bytes"), 4);
  EXPECT_EQ(all[1].at("bytes"), 8);
}

TEST_F(Comm, BadRequestsAreOneSentence) {
  for (const auto& [flags, sentence] :
       {std::pair<std::string, std::string>{"--only alreduce", "--only: unknown operation"},
        {"--min 8KiB --max 4KiB", "--min 8192 is above --max 4096"},
        {"--factor 1", "--factor 1: must be above 1"},
        {"--min 0", "--min 0: must be 1 B to 16 GiB"},
        {"--fit", "--fit: its value is missing"},
        {"--fit new.toml --link 1Gbit,1ms", "--fit: behind --link 1Gbit,1ms times are a model's"},
        {"--fit new.toml --dtype bf16", "--fit: fits are of fp32, not of --dtype bf16"},
        {"--fit new.toml --min 4 --max 4", "--fit: a line needs two sizes of an operation"},
        {"-H localhost:2:3", "--hosts localhost:2:3: 'localhost:2:3' has more"},
        {"--link 5", "--link = '5': must be a rate"},
        {"--engine nccl", "--engine: 'nccl'"},
        {"--format tab", "--format: unknown format"}}) {
    const Outcome outcome = run("comm --ranks 2 " + flags);
    EXPECT_EQ(outcome.exit_code, 2) << flags;
    EXPECT_EQ(outcome.out.find("paceline: " + sentence), 0U) << outcome.out;
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1);
  }
}

TEST_F(Comm, APredictionRejectsWhatIsOfMeasurements) {
  for (const char* const flag :
       {"--iterations 3", "--warmup 1", "--dtype fp32", "--link 1Gbit,1ms", "--records r.jsonl"}) {
    const Outcome outcome =
        run(std::string("comm --predict --ranks 4 --cluster " PACELINE_SOURCE_DIR
                        "/clusters/2x2-1gbe.toml ") +
            flag);
    EXPECT_EQ(outcome.exit_code, 2) << flag;
    const std::string name = std::string(flag).substr(0, std::string(flag).find(' '));
    EXPECT_EQ(outcome.out, "paceline: --predict measures nothing; leave out " + name + "\n");
  }
}

}  // namespace
}  // namespace paceline
