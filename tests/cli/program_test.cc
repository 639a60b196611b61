// SPDX-License-Identifier: Apache-2.0
// The built program from outside: exit codes, one sentence for each mistake, and nothing started
// before the mistake is found.
#include "cli/program.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paceline {
namespace {

TEST_F(Program, BareItPrintsTheHelpWithFirstSteps) {
  const Outcome outcome = run("");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, run("--help").out);
  EXPECT_EQ(run("profile --help").out.find("First steps"), std::string::npos);
  for (const char* next : {"doctor ", "run quick ", "report RECORDS -o page.html ", "diff BASE "}) {
    EXPECT_NE(outcome.out.find(std::string("\n  paceline ") + next), std::string::npos) << next;
  }
}

TEST_F(Program, ListSaysWhatATopologyIs) {
  const std::string strategies = run("list strategies").out;
  EXPECT_EQ(strategies.find(".h ["), std::string::npos) << strategies;
  EXPECT_NE(strategies.find("`paceline list topologies`"), std::string::npos);
  const std::string text = run("list topologies").out;
  for (const char* words : {"one-peer-exp[:BASE] ", "full  ", "edges:FILE "}) {
    EXPECT_NE(text.find(words), std::string::npos) << words;
  }
}

TEST_F(Program, HelpNamesTheFlagsThatOthersRelyOn) {
  const Outcome outcome = run("run --help");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* flag :
       {"--model",   "--batch-size",  "--image-size", "--ranks",   "--strategy",  "--bucket-mb",
        "--engine",  "--device",      "--dtype",      "--threads", "--warmup",    "--steps",
        "--runs",    "--seed",        "--accumulate", "--records", "--json",      "--format",
        "--dry-run", "--resume",      "--yes",        "--timeout", "--interface", "--rendezvous",
        "--trace",   "--print-launch"}) {
    EXPECT_NE(outcome.out.find(flag), std::string::npos) << flag;
  }
}

// The defaults of tables are those of the network's experiment file.
TEST_F(Program, HelpOfPredictNamesNoDefaultOfTables) {
  const std::string help = run("predict --help").out;
  EXPECT_NE(help.find("rows of each table, one for each id\n"), std::string::npos) << help;
}

TEST_F(Program, ListPrintsEveryTable) {
  const Outcome outcome = run("list");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* name :
       {"fusion", "all-reduce", "python-ddp", "resnet50", "resnext101_32x8d", "gloo", "quick",
        "csv", "page", "fusion+all-reduce+identity+gradients"}) {
    EXPECT_NE(outcome.out.find(name), std::string::npos) << name;
  }
  EXPECT_EQ(run("list formats").out.rfind("Formats\n", 0), 0U);
  expect_rejected("list formts", "paceline: unknown list 'formts'; did you mean 'formats'?");
}

TEST_F(Program, DoctorSaysWhatItSees) {
  const Outcome outcome = run("doctor");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  for (const char* name : {"interface", "cores", "PyTorch", "engines", "GPUs"}) {
    EXPECT_NE(outcome.out.find(name), std::string::npos) << name;
  }
  EXPECT_EQ(outcome.out.find("BROKEN"), std::string::npos) << outcome.out;
}

TEST_F(Program, RejectsBadFlags) {
  expect_rejected("rnu", "paceline: unknown command 'rnu'; did you mean 'run'?");
  expect_rejected("run --modle mlp", "paceline: unknown flag '--modle'; did you mean '--model'?");
  expect_rejected("run -hostfile h",
                  "paceline: unknown flag '-hostfile'; did you mean '--hostfile'?");
  expect_rejected("run --model mlp --ranks two", "paceline: --ranks: 'two' is not a whole number");
  expect_rejected("run --model resnet5",
                  "paceline: --model: unknown model 'resnet5'; did you mean 'resnet50'?");
  expect_rejected("run --model mlp --strategy fusoin",
                  "paceline: --strategy: unknown strategy part 'fusoin'");
  expect_rejected("run --model mlp --format xml", "paceline: --format: unknown format 'xml'");
  expect_rejected("run --model mlp --ranks", "paceline: --ranks: ");
  expect_rejected("run --model mlp --resume", "paceline: --resume: needs --records FILE");
  expect_rejected("run --model mlp --engine rpc",
                  "paceline: --engine: 'rpc' is not one of auto, gloo, nccl, mpi");
  expect_rejected("run", "paceline: nothing to run: ");
  expect_rejected("run --timeout 0", "paceline: --timeout: '0' is not a number from 1 to 86400");
  expect_rejected("run --model mlp --format foo", "paceline: --format: unknown format 'foo'");
  for (const char* flag : {"--hosts", "--hostfile", "--cluster"}) {
    expect_rejected(std::string("run --model mlp ") + flag + " ''",
                    std::string("paceline: ") + flag + ": is empty; ");
    expect_rejected(std::string("comm ") + flag + " ''",
                    std::string("paceline: ") + flag + ": is empty; ");
  }
  expect_rejected("run --model mlp -H ''", "paceline: --hosts: is empty; ");
}

TEST_F(Program, RejectsASecondPositionalArgument) {
  for (const char* word : {"ddp", "list"}) {
    expect_rejected(std::string("run quick ") + word,
                    std::string("paceline: unexpected argument '") + word +
                        "'; paceline run --help says what it takes\n");
  }
}

TEST_F(Program, TakesTheValueOfASwitchBehindItsEqualsSign) {
  const Outcome outcome = run("run --model mlp --device cpu --dry-run --channels-last=true,false");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("2 cases"), std::string::npos) << outcome.out;
  expect_rejected("run --model mlp --channels-last false", "paceline: unknown experiment 'false'");
  expect_rejected("run --model mlp --channels-last=maybe", "paceline: ");
}

TEST_F(Program, RejectsMoreRanksThanTheCoresOfThisHostAllow) {
  expect_rejected("run --model mlp --ranks 1000000 --yes", "paceline: --ranks: '1000000' on ");
  expect_rejected("comm --ranks 1000000", "paceline: --ranks: '1000000' on ");
  write("hosts", "localhost slots=1000000\n");
  write("cluster.toml", "[[hosts]]\nname = 'localhost'\nslots = 1000000\n");
  for (const char* hosts : {"-H localhost:1000000", "--hostfile hosts", "--cluster cluster.toml"}) {
    for (const char* command : {"run --model mlp --device cpu --dry-run ",
                                "run --model mlp --device cpu --yes ", "comm "}) {
      expect_rejected(std::string(command) + hosts, "paceline: host 'localhost': '1000000' on ");
    }
  }
}

TEST_F(Program, RejectsARendezvousOfOneHost) {
  for (const char* command :
       {"run --model mlp --device cpu --dry-run ", "run --model mlp --device cpu ", "comm "}) {
    expect_rejected(
        std::string(command) + "-H localhost:2 --rendezvous 10.99.99.99:1234",
        "paceline: --rendezvous 10.99.99.99:1234: is where ranks of several hosts meet, "
        "and all 2 are on this host; leave it out\n");
  }
}

TEST_F(Program, RejectsAFlagThatIsGivenTwice) {
  expect_rejected("comm --min 4 --min 8", "paceline: --min: is given twice; give it once\n");
  expect_rejected("predict resnet50 --records a --records b --records c",
                  "paceline: --records: is given 3 times; give it once\n");
  expect_rejected("comm --ranks", "paceline: --ranks: its value is missing\n");
}

TEST_F(Program, RejectsEmptyValues) {
  for (const char* words :
       {"comm --link", "comm --ssh-command", "comm --only", "run --model mlp --link",
        "run --model mlp --replay", "profile mlp --output", "predict resnet50 --strategy",
        "advise resnet50 --bucket-mb", "report a.jsonl -o"}) {
    const std::string flag(std::string(words).substr(std::string(words).rfind(' ') + 1));
    const std::string named = flag == "-o" ? "paceline: --" : "paceline: " + flag;
    expect_rejected(std::string(words) + " ''", named);
    const Outcome outcome = run(std::string(words) + " ''");
    EXPECT_NE(outcome.err.find(": is empty; leave it out, or give "), std::string::npos)
        << outcome.err;
  }
  expect_rejected("run --model mlp --link= --ranks 2", "paceline: --link: is empty; ");
  expect_rejected("comm --only all-reduce,,message",
                  "paceline: --only: 'all-reduce,,message' has an empty value ");
}

TEST_F(Program, ProfileShowsTheCodecsThatItTimes) {
  const Outcome shown =
      run("profile lenet --batch-size 2 --warmup 0 --steps 1 --threads 1 --device cpu --codecs");
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_TRUE(shown.out.starts_with("lenet, batch 2 on cpu: forward ")) << shown.out;
  EXPECT_NE(shown.out.find(" M elements\n          "), std::string::npos) << shown.out;
  EXPECT_EQ(shown.out.find("\n\n"), std::string::npos) << shown.out;
  std::ifstream file(folder_ / "lenet.profile.json");
  EXPECT_GT(nlohmann::json::parse(file).at("codecs").size(), 1U);
}

TEST_F(Program, RejectsBadFiles) {
  write("bad.toml", "model = 'mlp'\nbatch_size = = 3\n");
  expect_rejected("run bad.toml", "paceline: bad.toml:2: not TOML: ");
  write("unknown.toml", "modle = 'mlp'\n");
  expect_rejected("run unknown.toml",
                  "paceline: unknown.toml:1: unknown key 'modle'; did you mean 'model'?");
  write("unknown.toml", "modle = 'mlp'\n");
  const std::string sentence = run("run unknown.toml").err;
  EXPECT_NE(sentence.find(", case, sweep\n"), std::string::npos) << sentence;
  expect_rejected("run no-such-file", "paceline: unknown experiment 'no-such-file'");
  for (const char* path : {"nosuch.toml", "no/such"}) {
    expect_rejected(std::string("run ") + path,
                    std::string("paceline: there is no file '") + path + "'; ");
  }
  write("records.jsonl", "not a record\n");
  expect_rejected("run --model mlp --records records.jsonl", "paceline: records.jsonl:1: ");
}

TEST_F(Program, RejectsOutputsThatCannotBeWritten) {
  for (const char* flag : {"--records", "--json", "--trace"}) {
    expect_rejected(std::string("run --model mlp ") + flag + " /no/such/folder/file",
                    std::string("paceline: ") + flag);
  }
}

TEST_F(Program, RejectsOneFileForTwoOutputs) {
  expect_rejected("run --model mlp --records a.jsonl --json ./a.jsonl",
                  "paceline: --json ./a.jsonl: is the file of --records too\n");
  expect_rejected("run --model mlp --json a.json --trace a.json",
                  "paceline: --trace a.json: is the file of --json too\n");
}

TEST_F(Program, RejectsAnInterfaceThatIsNotHere) {
  expect_rejected("run --model mlp --interface nosuch0",
                  "paceline: --interface nosuch0: this host has no such interface");
}

TEST_F(Program, DryRunStartsNothing) {
  const Outcome outcome = run("run --model mlp --device cpu --ranks 1,2 --strategy bsp --dry-run");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.substr(0, outcome.out.find('\n')),
            "command-line: 2 cases, 1 run, up to 2 ranks");
  EXPECT_FALSE(fs::exists(folder_ / "results"));
}

TEST_F(Program, DryRunSaysThatStepsRepeat) {
  const std::string job = "run --model mlp --device cpu --dry-run ";
  const auto says = [](const Outcome& outcome, const std::string& words) {
    EXPECT_NE(outcome.out.find(words), std::string::npos) << words << outcome.out << outcome.err;
  };
  const Outcome peers = run(job + "--ranks 8 --strategy neighbor-allreduce+atc --warmup 3");
  says(peers, "     steps repeat after 3; a step that sends most:\n   0  ");
  says(peers, " > rank 1, ");
  const Outcome local = run(job + "--ranks 4 --strategy local-sgd:every=10 --warmup 0");
  says(local, "     steps repeat after 10; a step that sends most:\n");
  EXPECT_EQ(local.out.find(" 0 bytes on the wire"), std::string::npos) << local.out;
  EXPECT_EQ(run(job + "--ranks 2 --strategy ddp").out.find("repeat"), std::string::npos);
}

TEST_F(Program, DryRunPlansTheMeanOfStatistics) {
  const std::string job =
      "run --model resnet18 --image-size 32 --device cpu --ranks 2 --strategy bsp --dry-run "
      "--warmup 3 --average-buffers ";
  const Outcome plain = run(job + "0"), often = run(job + "2");
  ASSERT_EQ(often.exit_code, 0) << often.err;
  EXPECT_EQ(plain.out.find("on statistics, 2 ranks"), std::string::npos);
  EXPECT_NE(often.out.find("on statistics, 2 ranks"), std::string::npos) << often.out;
}

TEST_F(Program, PrintsTheLineThatStartsItOnACluster) {
  const Outcome two_hosts =
      run("run ddp --ranks-per-host 8+8 --json out.json --print-launch slurm");
  EXPECT_EQ(two_hosts.exit_code, 0) << two_hosts.err;
  EXPECT_NE(two_hosts.out.find("srun --nodes=2 --ntasks-per-node=8 "), std::string::npos)
      << two_hosts.out;
  EXPECT_TRUE(two_hosts.out.ends_with("run ddp --json out.json\n")) << two_hosts.out;
  const Outcome mpirun = run("run ddp --ranks-per-host 2+2 --device cpu --print-launch mpirun");
  EXPECT_TRUE(mpirun.out.starts_with("mpirun -np 4 -H FIRST_HOST:2,HOST_2:2 --map-by "))
      << mpirun.out;
  EXPECT_EQ(mpirun.err, "put the names of your hosts in place of FIRST_HOST and HOST_2\n");
  const Outcome each =
      run("run --model mlp --device cpu --ranks 8 --local-size 4 --print-launch mpirun");
  EXPECT_NE(each.out.find("-np 8 -H FIRST_HOST:4,HOST_2:4 "), std::string::npos) << each.out;
  EXPECT_EQ(each.out.find("--local-size"), std::string::npos) << each.out;
  expect_rejected("run --model mlp --ranks 6 --local-size 4 --print-launch slurm",
                  "paceline: --ranks-per-host: '4', but 6 ranks do not fill");
  expect_rejected("run --model mlp --lr -1", "paceline: --learning-rate: '-1' is not ");
  expect_rejected("run quick --print-launch torchrun",
                  "paceline: --print-launch: say for how many ranks");
  expect_rejected("run quick -H a:4,b:4 --print-launch mpirun",
                  "paceline: --print-launch beside --hosts: the launcher names the hosts; say "
                  "--ranks-per-host 4+4 instead");
}

constexpr const char* kTwoCases =
    "run --model mlp --device cpu --ranks 1,2 --strategy bsp --batch-size 4 --warmup 1 --steps 3 "
    "--records r.jsonl ";

// A batch of a petabyte, more than any address space.
TEST_F(Program, WhatDoesNotFitIntoMemoryIsRejectedInOneSentence) {
  for (const char* ranks : {"1", "2"}) {
    SCOPED_TRACE(ranks);
    const Outcome outcome = run(
        std::string("run --model resnet18 --device cpu --batch-size 2000000000 --ranks ") + ranks);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(outcome.err.starts_with("paceline: resnet18 with batch 2000000000 on "))
        << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_FALSE(fs::exists(folder_ / "results"));
  }
}

TEST_F(Program, ALongRunAsksFirst) {
  const Outcome outcome =
      run("run --model mlp --device cpu --ranks 2 --strategy bsp --steps 100000000");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("--yes"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  EXPECT_FALSE(fs::exists(folder_ / "results"));
}

TEST_F(Program, RunsASweepAndGoesOnWithIt) {
  const Outcome first = run(std::string(kTwoCases) + "--format csv --json original.json");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(std::ranges::count(first.out, '\n'), 3) << first.out;
  EXPECT_NE(first.err.find("records: r.jsonl"), std::string::npos);
  EXPECT_EQ(lines_of(folder_ / "r.jsonl"), 2);
  EXPECT_TRUE(fs::exists(folder_ / "original.json"));

  const Outcome again = run(std::string(kTwoCases) + "--format csv --resume");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, first.out);
  EXPECT_EQ(lines_of(folder_ / "r.jsonl"), 2);
}

// The second case runs until the first one's row has been seen.
TEST_F(Program, TheOriginalsRowsComeAsCasesFinish) {
  const Outcome outcome = run(
      "run --model mlp --device cpu --ranks 1 --strategy none --batch-size 4 --warmup 1 --steps "
      "3,1000000 --records r.jsonl --yes --format ddp > rows & program=$!; until grep -q p95 rows; "
      "do sleep 0.05; done; kill -INT $program; wait $program; code=$?; cat rows; exit $code");
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("-----")) << outcome.out;
  EXPECT_EQ(lines_of(folder_ / "r.jsonl"), 1);
  std::size_t rows = 0;
  for (std::size_t at = 0; (at = outcome.out.find("p95:", at)) != std::string::npos; ++at) {
    ++rows;
  }
  EXPECT_EQ(rows, 1U) << outcome.out;
}

TEST_F(Program, RepeatsInFreshProcesses) {
  const Outcome outcome = run(std::string(kTwoCases) + "--runs 2");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(lines_of(folder_ / "r.jsonl"), 4);
  EXPECT_NE(outcome.err.find(" for 4 runs of 2 cases, "), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace paceline
