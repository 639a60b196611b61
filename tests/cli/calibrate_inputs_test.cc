// SPDX-License-Identifier: Apache-2.0
// The files that `paceline calibrate` reads: those it rejects, and those without times.
#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/nccl_tests_log.h"
#include "cli/program.h"

namespace paceline {
namespace {

class CalibrateInputs : public Program {};

TEST_F(CalibrateInputs, RejectsBrokenInputsWithTheirLine) {
  std::string text = text_of(sixteen_a100());
  const auto row = text.find("     4194304");
  const auto end = text.find('\n', row);
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(row), '\n');
  write("cut.txt", text.substr(0, end - 12) + text.substr(end));
  expect_rejected("calibrate cut.txt -o mine.toml", fmt::format("paceline: cut.txt:{}: ", line));
  std::string contradicts = text;
  contradicts.replace(contradicts.find("177.38"), 6, "277.38");
  write("contradicts.txt", contradicts);
  expect_rejected("calibrate contradicts.txt -o mine.toml",
                  fmt::format("paceline: contradicts.txt:{}: ", line));
  EXPECT_FALSE(fs::exists(folder_ / "mine.toml"));
}

TEST_F(CalibrateInputs, RejectsWhatNothingFollowsFrom) {
  NcclTestsLog wrong = sixteen_a100();
  wrong.wrong = "3";
  write("wrong.txt", text_of(wrong));
  write("good.txt", text_of(sixteen_a100()));
  write("text.txt", "all is well\n");
  const Outcome outcome = run("calibrate wrong.txt -o mine.toml");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("paceline: no time of a collective or a message is in the files"),
            std::string::npos)
      << outcome.err;
  expect_rejected("calibrate text.txt -o mine.toml", "paceline: text.txt: holds no times");
  expect_rejected("calibrate good.txt -o good.txt",
                  "paceline: --output good.txt: is one of the files that are read");
  expect_rejected("calibrate good.txt good.txt -o mine.toml", "paceline: ");
  // 16 ranks whose all-reduce is faster than this network.
  write("slow.toml",
        "[[hosts]]\nname = 'node'\ncount = 2\nslots = 8\n[[links]]\njoins = 'hosts'\n"
        "rate = '10Gbit'\n");
  expect_rejected(
      "calibrate good.txt --cluster slow.toml -o mine.toml",
      "paceline: all-reduce of 1048576 B among 16 ranks took 111.9 us, and the rates of "
      "the links alone need ");
  EXPECT_FALSE(fs::exists(folder_ / "mine.toml"));
}

/// The output of nvidia-smi topo -m on a host of `devices` GPUs, of which the first is near the one
/// network card.
std::string topology(int devices) {
  std::string header, rows, card = "NIC0";
  for (int row = 0; row < devices; ++row) {
    header += fmt::format("\tGPU{}", row);
    rows += fmt::format("GPU{}", row);
    for (int column = 0; column < devices; ++column) {
      rows += column == row ? "\t X " : "\tNV12";
    }
    rows += row == 0 ? "\tPIX\t0-31\n" : "\tSYS\t0-31\n";
    card += row == 0 ? "\tPIX" : "\tSYS";
  }
  return header + "\tNIC0\tCPU Affinity\n" + rows + card + "\t X \t\n";
}

TEST_F(CalibrateInputs, TakesHostsAndDevicesFromFilesWithoutTimes) {
  write("topo.txt", topology(8));
  const std::string two_nodes =
      "HOME=/root\nSLURM_NODELIST=gpu-[001-002]\nSLURM_TASKS_PER_NODE=8(x2)\n";
  write("env.txt", two_nodes);
  write("nccl.txt", text_of(sixteen_a100()));
  write("lab.toml", kLab);
  const Outcome outcome = run("calibrate nccl.txt topo.txt env.txt -o mine.toml");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("mine.toml: 2 hosts"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("no file says the rate of the link between the devices"),
            std::string::npos)
      << outcome.err;
  for (const char* const right : {"SLURM_NNODES=2\n", "SLURM_NTASKS=16\n",
                                  "SLURM_NTASKS_PER_NODE=8\n", "SLURM_GPUS_ON_NODE=8\n"}) {
    write("env.txt", two_nodes + right);
    EXPECT_EQ(run("calibrate nccl.txt env.txt --cluster lab.toml -o mine.toml").exit_code, 0);
  }
  for (const char* const wrong : {"SLURM_NNODES=3", "SLURM_JOB_NUM_NODES=1", "SLURM_NTASKS=48"}) {
    write("env.txt", two_nodes + wrong + "\n");
    expect_rejected("calibrate nccl.txt env.txt -o mine.toml",
                    fmt::format("paceline: env.txt: {}, but by the node list", wrong));
  }
  write("env.txt", "SLURM_NODELIST=a\n");
  expect_rejected("calibrate nccl.txt env.txt -o mine.toml",
                  "paceline: env.txt: says no ranks a host: ");
}

TEST_F(CalibrateInputs, RejectsMoreRanksOnAHostThanItIsSaidToHave) {
  write("nccl.txt", text_of(sixteen_a100()));
  write("env.txt", "SLURM_NODELIST=gpu-[001-004]\nSLURM_TASKS_PER_NODE=4(x4)\n");
  write("topo.txt", topology(4));
  const std::string calibrate = "calibrate nccl.txt -o mine.toml ";
  const std::string said = "paceline: all-reduce among 16 ranks had 8 of them on a host, and ";
  for (const char* const four : {"env.txt", "-H a:4,b:4"}) {
    SCOPED_TRACE(four);
    expect_rejected(calibrate + four, said + "the slots of a described host are at most 4\n");
  }
  expect_rejected(calibrate + "topo.txt", said + "the devices in nvidia-smi topo -m are 4\n");
  EXPECT_EQ(run(calibrate + "-H a:16,b:16").exit_code, 0);
}

}  // namespace
}  // namespace paceline
