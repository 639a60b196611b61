// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "cli/inputs.h"
#include "cli/program.h"

namespace paceline {
namespace {

TEST_F(Program, TopologyPrintsTheMatrixAndWhatItCosts) {
  const std::string text = run("topology one-peer-exp -n 16 --local-size 4").out;
  for (const char* words :
       {"one-peer-exp, 16 ranks on 4 machines, repeats after 4 steps",
        "doubly stochastic         yes", "exact mean                after 4 steps",
        "at most 1 S; S: bytes of the parameters",
        "between machines          4, 8, 16, 16, repeating", "Weights, step 3 of 4"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << text;
  }
}

TEST_F(Program, TopologySaysWhatAnEdgeListLacks) {
  write("ring.txt", "0 1\n1 2\n2 0\n0 2\n");
  const std::string text = run("topology edges:ring.txt -n 3").out;
  EXPECT_NE(text.find("no: column 0 (what is taken of rank 0) sums to 1.3333"), std::string::npos)
      << text;
}

TEST_F(Program, TopologyPrintsTheDigitsThatDiffer) {
  write("near.txt", "0 1 0.5\n1 0 0.49999999\n");
  std::string text = run("topology edges:near.txt -n 2").out;
  EXPECT_EQ(text.find("matrix is 0.5, and row 1, column 0 is 0.5"), std::string::npos) << text;
  EXPECT_NE(text.find("0.49999999"), std::string::npos) << text;
}

// The same sentence in both.
TEST_F(Program, AGraphThatNeverMixesIsRejected) {
  write("swap.txt", "0 1 1\n1 0 1\n");
  write("two.toml", kTwoHosts);
  const std::string text = run("topology edges:swap.txt -n 2").out;
  EXPECT_NE(text.find("never, nor in the limit: values only go round"), std::string::npos) << text;
  const std::string why =
      "'neighbor-allreduce' averages, but values only go round over 'edges:swap.txt'";
  const std::string strategy = " --strategy neighbor-allreduce:topology=edges:swap.txt";
  for (const std::string& command :
       {"run --model mlp --ranks 2 --steps 1" + strategy,
        "predict resnet50 --device-rate 100 --cluster two.toml --ranks 2" + strategy}) {
    const Outcome outcome = run(command);
    EXPECT_NE(outcome.exit_code, 0) << command;
    EXPECT_NE(outcome.err.find(why), std::string::npos) << outcome.err;
  }
}

TEST_F(Program, TopologyRejectsWhatIsNoGraph) {
  expect_rejected("topology torus -n 4", "paceline: topology: 'torus' is none of: one-peer-exp, ");
  expect_rejected("topology mesh:2x3 -n 5", "paceline: topology 'mesh:2x3': a mesh of 2 rows");
  expect_rejected("topology exp -n 8 --local-size 3",
                  "paceline: --local-size 3: 8 ranks do not fill");
  expect_rejected("topology exp -n 0", "paceline: ");
  expect_rejected("topology exp", "paceline: ");
  expect_rejected(
      "run --model mlp --ranks 2 --steps 1 --strategy neighbor-allreduce:topology=torus",
      "paceline: --strategy: topology: 'torus' is none of: ");
}

}  // namespace
}  // namespace paceline
