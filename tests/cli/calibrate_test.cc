// SPDX-License-Identifier: Apache-2.0
// `paceline calibrate` and `paceline comm --predict` from outside, on output of nccl-tests.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/nccl_tests_log.h"
#include "cli/program.h"

namespace paceline {
namespace {

constexpr const char* kH200 = "--cluster " PACELINE_SOURCE_DIR "/clusters/8x8-h200-400gb.toml";

/// A published node of eight H200: algorithm bandwidths, GB/s, from 32 KiB on, each size twice the
/// one before (stas00/ml-engineering, network/README.md, reference/modern/nccl_allreduce.csv).
NcclTestsLog eight_h200() {
  NcclTestsLog log{
      .hosts = std::vector<std::string>(8, "gpu1"), .device = "NVIDIA H200", .times = {}};
  std::int64_t bytes = 32768;
  for (const double rate :
       {0.82,   1.67,   3.27,   6.71,   13.68,  22.82,  36.87,  61.23,  88.87,  125.65,
        157.62, 198.01, 229.67, 249.23, 257.31, 264.90, 268.10, 270.34, 272.83, 275.58}) {
    log.times.emplace_back(bytes, static_cast<double>(bytes) / (rate * 1e3));
    bytes *= 2;
  }
  return log;
}

struct PredictedRow {
  std::int64_t bytes = 0;
  double us = 0, low = 0, high = 0;
  std::string measured, error;
};

/// The rows of all tables of --format markdown.
std::vector<PredictedRow> rows_of(const std::string& text) {
  std::vector<PredictedRow> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, '|');) {
      const auto first = cell.find_first_not_of(' ');
      cells.push_back(first == std::string::npos
                          ? ""
                          : cell.substr(first, cell.find_last_not_of(' ') + 1 - first));
    }
    if (cells.size() >= 9 && !cells[1].empty() &&
        cells[1].find_first_not_of("0123456789") == std::string::npos) {
      PredictedRow row{.bytes = std::stoll(cells[1]),
                       .us = std::stod(cells[2]),
                       .measured = cells[6],
                       .error = cells[8]};
      EXPECT_EQ(std::sscanf(cells[3].c_str(), "[%lf, %lf]", &row.low, &row.high), 2) << line;
      rows.push_back(row);
    }
  }
  return rows;
}

class Calibrate : public Program {
 protected:
  void calibrate(const NcclTestsLog& log, const std::string& flags = "") const {
    write("nccl.txt", text_of(log));
    write("lab.toml", kLab);
    const Outcome outcome = run("calibrate nccl.txt -o mine.toml " + flags);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }

  std::vector<PredictedRow> predicted(const std::string& flags) const {
    const Outcome outcome = run("comm --predict --only all-reduce --format markdown " + flags);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return rows_of(outcome.out);
  }
};

TEST_F(Calibrate, ReproducesWhatWasMeasuredWithinTheStatedError) {
  const NcclTestsLog log = eight_h200();
  calibrate(log, kH200);
  const auto rows = predicted("--cluster mine.toml --ranks 8 --min 32KiB --max 16GiB --factor 2");
  ASSERT_EQ(rows.size(), log.times.size());
  int within = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [bytes, us] = log.times[i];
    EXPECT_EQ(rows[i].bytes, bytes);
    within += rows[i].low <= us && us <= rows[i].high ? 1 : 0;
    EXPECT_NE(rows[i].measured, "-") << bytes;
  }
  EXPECT_GE(within, 18);
}

// Published of the same node: 4 devices by a ring, 5 to 7 by NVLS, bus bandwidths of 8 GiB.
TEST_F(Calibrate, EightDevicesForeseeFewerWithinTheInterval) {
  calibrate(eight_h200(), kH200);
  const auto rows =
      predicted("--cluster mine.toml --ranks 4,5,6,7,8 --min 8589934592 --max 8589934592");
  ASSERT_EQ(rows.size(), 5U);
  const double bus[] = {363.3, 414.2, 435.6, 460.0, 473.1};
  for (int i = 0; i < 5; ++i) {
    const double ranks = 4 + i;
    const double us = 8589934592.0 * 2 * (ranks - 1) / ranks / (bus[i] * 1e3);
    EXPECT_LE(rows[i].low, us) << ranks;
    EXPECT_GE(rows[i].high, us) << ranks;
    EXPECT_EQ(rows[i].measured == "-", ranks < 8) << ranks;
    // Each is further from what was measured than the next one.
    if (i > 0) {
      EXPECT_GT(rows[i - 1].high / rows[i - 1].us, rows[i].high / rows[i].us) << ranks;
    }
  }
}

TEST_F(Calibrate, SmallSizesForeseeLargeOnesWithinTheInterval) {
  NcclTestsLog log = sixteen_a100();
  const Times left_out(log.times.begin() + 3, log.times.end());
  log.times.resize(3);
  calibrate(log, "--cluster lab.toml");
  const auto rows = predicted("--cluster mine.toml --ranks 16 --min 1MiB --max 256MiB");
  ASSERT_EQ(rows.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(rows[i].measured == "-", i > 2) << rows[i].bytes;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(rows[3 + i].bytes, left_out[i].first);
    EXPECT_LE(rows[3 + i].low, left_out[i].second) << left_out[i].first;
    EXPECT_GE(rows[3 + i].high, left_out[i].second) << left_out[i].first;
  }
  EXPECT_GT(rows[4].high / rows[4].us, rows[2].high / rows[2].us);
}

TEST_F(Calibrate, TakesTheGenerationFromTheDevicesOfTheLog) {
  calibrate(sixteen_a100(), "--cluster lab.toml");
  const std::string cluster = [&] {
    std::ifstream file(folder_ / "mine.toml");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  EXPECT_NE(cluster.find("'NVIDIA A100-SXM4-40GB'"), std::string::npos) << cluster;
  NcclTestsLog unknown = sixteen_a100();
  unknown.device = "NVIDIA Z9";
  write("nccl.txt", text_of(unknown));
  const Outcome outcome = run("calibrate nccl.txt --cluster lab.toml -o other.toml");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(
      outcome.err,
      "paceline: no file says what the memory of a device moves, nor does data/devices.toml of "
      "'NVIDIA Z9': `paceline predict` prices updates at 0; give memory_bandwidth in the file "
      "of --cluster\n"
      "paceline: device 'NVIDIA Z9' is of no known generation: NCCL's constants are those of "
      "generation volta; a file of --cluster may name the device\n");
}

TEST_F(Calibrate, ReplacesOnlyWhatItWrote) {
  calibrate(sixteen_a100(), "--cluster lab.toml");
  calibrate(sixteen_a100(), "--cluster lab.toml");
  for (const char* const text : {kLab, "my notes\n"}) {
    write("mine.toml", text);
    expect_rejected(
        "calibrate nccl.txt --cluster lab.toml -o mine.toml",
        "paceline: --output mine.toml: exists, and paceline calibrate did not write it; "
        "name another file\n");
    std::ifstream file(folder_ / "mine.toml");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
  }
}

TEST_F(Calibrate, RejectsTimesOfAnotherDevice) {
  write("a100.txt", text_of(sixteen_a100()));
  write("lab.toml", kLab);
  expect_rejected(
      "calibrate a100.txt --cluster " PACELINE_SOURCE_DIR
      "/clusters/8x8-h100-400gb.toml -o mine.toml",
      "paceline: the times are of device 'NVIDIA A100-SXM4-40GB', and that of --cluster "
      "is 'H100-SXM5-80GB'\n");
  NcclTestsLog h100 = sixteen_a100();
  h100.device = "NVIDIA H100 80GB HBM3";
  write("h100.txt", text_of(h100));
  expect_rejected("calibrate a100.txt h100.txt --cluster lab.toml -o mine.toml",
                  "paceline: the times are of device 'NVIDIA H100 80GB HBM3', and that of other "
                  "files is 'NVIDIA A100-SXM4-40GB'\n");
  // A cluster file may write the same device in other words.
  write("same.toml", std::string(kLab) + "[device]\nname = 'a100'\n");
  EXPECT_EQ(run("calibrate a100.txt --cluster same.toml -o mine.toml").exit_code, 0);
}

// The ring of several hosts passes the devices of each, so that the model needs their link too.
TEST_F(Calibrate, FitsItsOwnTimesWithTheNvlinkOfTheDataSheet) {
  write("nccl.txt", text_of(sixteen_a100()));
  const Outcome outcome = run("calibrate nccl.txt -o mine.toml");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(
      outcome.err,
      "paceline: no file says what the memory of a device moves: it is taken to be 1555 GB/s, "
      "the data sheet's rate of 'NVIDIA A100-SXM4-40GB'\n"
      "paceline: no file describes the link between the devices of a host: it is taken to be "
      "NVLink at 300 GB/s, the data sheet's rate of 'NVIDIA A100-SXM4-40GB'\n");
  for (const PredictedRow& row :
       predicted("--cluster mine.toml --ranks 16 --min 1MiB --max 256MiB --factor 4")) {
    EXPECT_LT(std::abs(std::stod(row.error)), 5) << row.bytes;
  }
  NcclTestsLog pcie = sixteen_a100();
  pcie.device = "NVIDIA A100-PCIE-40GB";
  write("pcie.txt", text_of(pcie));
  expect_rejected(
      "calibrate pcie.txt -o other.toml",
      "paceline: nothing says which link joins the devices of a host, on which times of "
      "several hosts depend, too; give it with --cluster, or give times inside one "
      "host\n");
}

TEST_F(Calibrate, RejectsAFitThatMissesItsOwnTimes) {
  NcclTestsLog log = sixteen_a100();
  for (std::size_t i = 0; i < log.times.size(); ++i) {
    log.times[i].second *= i % 2 == 0 ? 4 : 1;
  }
  write("nccl.txt", text_of(log));
  write("lab.toml", kLab);
  expect_rejected("calibrate nccl.txt --cluster lab.toml -o mine.toml",
                  "paceline: engine nccl's model does not give the times of link 'network': "
                  "all-reduce of ");
  log = sixteen_a100();
  log.times.resize(1);
  log.device = "NVIDIA Z9";
  log.hosts.resize(8);
  write("nccl.txt", text_of(log));
  expect_rejected("calibrate nccl.txt -o mine.toml",
                  "paceline: the times do not determine the rate of link 'devices'; give it with "
                  "--cluster, or times of larger sizes\n");
  EXPECT_FALSE(fs::exists(folder_ / "mine.toml"));
}

TEST_F(Calibrate, WithoutMeasurementsTheIntervalIsThatOfPublishedTimes) {
  const Outcome outcome =
      run(std::string(
              "comm --predict --only all-reduce,broadcast --ranks 8,64 --min 1MiB --max 1MiB ") +
          kH200);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("interval: paceline calibrate measured nothing of this"),
            std::string::npos)
      << outcome.out;
  const auto rows = predicted(std::string("--ranks 8,16,64 --min 1GiB --max 1GiB ") + kH200);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_GT(rows[1].high / rows[1].us, rows[0].high / rows[0].us);
  EXPECT_GT(rows[2].high / rows[2].us, rows[1].high / rows[1].us);
}

/// Two published nodes of eight H100 with EFA (stas00/ml-engineering), 64 MiB to 2 GiB.
NcclTestsLog sixteen_h100() {
  NcclTestsLog log{.hosts = {}, .device = "NVIDIA H100 80GB HBM3", .times = {}};
  log.hosts.assign(8, "node-a");
  log.hosts.insert(log.hosts.end(), 8, "node-b");
  std::int64_t bytes = 64 << 20;
  for (const double us : {996.0, 1950.5, 3010.8, 3608.0, 6426.3, 9197.5}) {
    log.times.emplace_back(bytes, us);
    bytes *= 2;
  }
  return log;
}

TEST_F(Calibrate, PrintsWhatWasMeasuredAndNoBoundAboveIt) {
  const NcclTestsLog log = sixteen_h100();
  calibrate(log);
  const std::string sizes = "--cluster mine.toml --ranks 16 --factor 2 --min 64MiB --max 2GiB";
  const auto rows = predicted(sizes);
  ASSERT_EQ(rows.size(), log.times.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [bytes, us] = log.times[i];
    EXPECT_NEAR(std::stod(rows[i].measured) / us, 1, 0.12) << bytes;
  }
  const Outcome bound =
      run("comm --predict --only all-reduce --engine ideal --format csv " + sizes);
  std::istringstream lines(bound.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "operation,ranks,engine,bytes,seconds,low_seconds,high_seconds,measured_seconds");
  for (const auto& [bytes, us] : log.times) {
    ASSERT_TRUE(std::getline(lines, line));
    double seconds = 0;
    const std::string row = fmt::format("all-reduce,16,ideal,{},%lf", bytes);
    ASSERT_EQ(std::sscanf(line.c_str(), row.c_str(), &seconds), 1) << line;
    EXPECT_LE(seconds, us * 1e-6 * 1.0001) << bytes;
  }
  const Outcome json = run("comm --predict --only all-reduce --format json " + sizes);
  const auto collectives = nlohmann::json::parse(json.out).at("collectives");
  ASSERT_EQ(collectives.size(), log.times.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(collectives[i].at("bytes"), rows[i].bytes);
    EXPECT_EQ(fmt::format("{:.2f}", collectives[i].at("measured_seconds").get<double>() * 1e6),
              rows[i].measured);
  }
}

TEST_F(Calibrate, LargeSizesSayLittleOfSmallOnes) {
  calibrate(sixteen_h100());
  const auto rows = predicted("--cluster mine.toml --ranks 16 --factor 128 --min 4KiB --max 64MiB");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_LT(rows[0].us, 200);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_GT(rows[i - 1].high / rows[i - 1].us, rows[i].high / rows[i].us) << rows[i].bytes;
  }
}

/// Synthetic: a latency, and the bus bandwidth in GB/s.
NcclTestsLog synthetic(int ranks, double alpha_us, double bus) {
  NcclTestsLog log{.hosts = {}, .device = "NVIDIA H100 80GB HBM3", .times = {}};
  for (int rank = 0; rank < ranks; ++rank) {
    log.hosts.push_back(fmt::format("node{:02}", rank / 8));
  }
  for (std::int64_t bytes = 1 << 14; bytes <= std::int64_t{1} << 32; bytes *= 2) {
    log.times.emplace_back(
        bytes, alpha_us + static_cast<double>(bytes) * 2 * (ranks - 1) / ranks / (bus * 1e3));
  }
  return log;
}

// Between measured numbers of ranks both commands take a time between theirs.
TEST_F(Calibrate, BetweenMeasuredRanksTheTimeIsBetween) {
  write("16.txt", text_of(synthetic(16, 60, 340)));
  write("64.txt", text_of(synthetic(64, 110, 300)));
  ASSERT_EQ(run("calibrate 16.txt 64.txt -o mine.toml --cluster " PACELINE_SOURCE_DIR
                "/clusters/8x8-h100-400gb.toml")
                .exit_code,
            0);
  const auto rows = predicted("--cluster mine.toml --ranks 16,24,32,64 --min 16KiB --max 1GiB");
  ASSERT_EQ(rows.size() % 4, 0U);
  const std::size_t sizes = rows.size() / 4;
  for (std::size_t i = 0; i < sizes; ++i) {
    const double least = std::stod(rows[i].measured),
                 most = std::stod(rows[i + 3 * sizes].measured);
    EXPECT_LT(least, rows[i + sizes].us) << rows[i].bytes;
    EXPECT_LT(rows[i + sizes].us, rows[i + 2 * sizes].us) << rows[i].bytes;
    EXPECT_LT(rows[i + 2 * sizes].us, most) << rows[i].bytes;
  }
  const Outcome steps =
      run("predict bert-large --cluster mine.toml --batch-size 48 --device-rate 500 --ranks "
          "16,24,32,64 --strategy bsp");
  double before = 0;
  for (const int ranks : {16, 24, 32, 64}) {
    const auto at = steps.err.find(fmt::format("bsp on {} ranks: step ", ranks));
    ASSERT_NE(at, std::string::npos) << steps.err;
    const double step = std::stod(steps.err.substr(steps.err.find("step ", at) + 5));
    EXPECT_GT(step, before) << ranks;
    before = step;
  }
}

TEST_F(Calibrate, WarnsOfDevicesThatItsDataDoNotKnow) {
  write("nccl.txt", text_of(sixteen_h100()));
  write("foo.toml", std::string(kLab) + "[device]\nname = 'FooBar 9000'\n");
  const std::string warning =
      "device-of-no-known-generation: the cluster's device is 'FooBar 9000'";
  const Outcome times =
      run("comm --predict --cluster foo.toml --ranks 8 --only message,all-reduce --max 4B");
  EXPECT_NE(times.err.find(warning), std::string::npos) << times.err;
  EXPECT_NE(times.err.find("--only message: of messages --predict has no table"), std::string::npos)
      << times.err;
  const Outcome step =
      run("predict bert-large --cluster foo.toml --batch-size 48 --device-rate 500 --ranks 8 "
          "--strategy bsp --format json");
  for (const char* const code : {"device-of-no-known-generation", "no-memory-rate"}) {
    EXPECT_NE((step.out + step.err).find(code), std::string::npos) << step.out;
  }
  const Outcome measured =
      run("predict bert-large --cluster foo.toml --batch-size 48 --ranks 8 --strategy bsp "
          "--measured nccl.txt");
  EXPECT_NE(measured.err.find("paceline calibrate"), std::string::npos) << measured.err;
}

TEST_F(Calibrate, PredictRejectsWhatTheClusterCannotHold) {
  calibrate(sixteen_a100(), "--cluster lab.toml");
  expect_rejected("comm --predict --cluster mine.toml --ranks 65 --only all-reduce",
                  "paceline: a world of 65 ranks does not fit on cluster");
  expect_rejected("comm --predict --cluster mine.toml --only message", "paceline: --predict: of ");
}

}  // namespace
}  // namespace paceline
