// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/failure_reason.h"

#include <string>

#include <gtest/gtest.h>

#include "paceline/launch/output_prefix.h"

namespace paceline::launch {
namespace {

// What torchrun 2.13 writes after the output of its ranks.
std::string torchrun_says(int rank, const std::string& exit_code, const std::string& traceback) {
  return R"(W1128 22:59:43.318000 16572 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 16659 closing signal SIGTERM
E1128 22:59:43.320000 16572 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: )" +
         exit_code + R"() local_rank: 1 (pid: 16660) of binary: /usr/bin/python
Traceback (most recent call last):
  File "/opt/torch/distributed/run.py", line 1032, in <module>
    main()
           ^^^^^^
torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-11-28_22:59:43
  host      : localhost
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 16659)  (SIGTERM)
  error_file: <N/A>
  traceback : Signal 15 (SIGTERM) received by PID 16659
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-28_22:59:43
  host      : localhost
  rank      : )" +
         std::to_string(rank) + R"( (local_rank: 1)
  exitcode  : )" +
         exit_code + R"( (pid: 16660)
  error_file: <N/A>
  traceback : )" +
         traceback + R"(
============================================================
)";
}

constexpr const char* kNoTraceback =
    "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html";

std::string raised(const std::string& prefix, const std::string& exception) {
  return prefix + "Traceback (most recent call last):\n" + prefix +
         "  File \"train.py\", line 4, in <module>\n" + prefix + "    train()\n" + prefix +
         exception + "\n";
}

TEST(FailureReason, OfTorchrunIsTheExceptionOfItsChild) {
  const std::string end = torchrun_says(1, "1", kNoTraceback);
  EXPECT_EQ(failure_reason(raised("", "ValueError: no such layer") + end),
            "ValueError: no such layer");
  for (const char* const prefix : {"[rank1]: ", "[default1]:"}) {
    EXPECT_EQ(failure_reason(raised("[rank0]: ", "RuntimeError: Connection closed") +
                             raised(prefix, "ValueError: no such layer") + end),
              "ValueError: no such layer");
  }
}

TEST(FailureReason, OfTorchrunWithoutAnException) {
  EXPECT_EQ(failure_reason("epoch 1\nno such GPU\n" + torchrun_says(1, "3", kNoTraceback)),
            "no such GPU");
  EXPECT_EQ(failure_reason(torchrun_says(1, "3", kNoTraceback)), "rank 1: exit code 3");
  EXPECT_EQ(failure_reason("epoch 1\n" +
                           torchrun_says(1, "-11", "Signal 11 (SIGSEGV) received by PID 7")),
            "rank 1: Signal 11 (SIGSEGV) received by PID 7");
  // The output of ranks went to files of torchrun's.
  EXPECT_EQ(failure_reason(torchrun_says(1, "1",
                                         "Traceback (most recent call last):\n"
                                         "    File \"train.py\", line 5\n"
                                         "      train()\n"
                                         "  RuntimeError: boom")),
            "RuntimeError: boom");
}

TEST(FailureReason, IsTheExceptionRatherThanItsLastLine) {
  EXPECT_EQ(failure_reason(raised("", "RuntimeError: CUDA error: 3") +
                           "For debugging consider passing LAUNCH_BLOCKING\n"),
            "RuntimeError: CUDA error: 3");
  EXPECT_EQ(
      failure_reason(raised("", "KeyError: 'x'") +
                     "\nDuring handling of the above exception, another exception occurred:\n\n" +
                     raised("", "ValueError: y")),
      "ValueError: y");
  EXPECT_EQ(failure_reason(raised("0: ", "ValueError: y")), "ValueError: y");
}

TEST(FailureReason, AnExceptionThatWasCaughtIsNone) {
  std::string steps;
  for (int i = 0; i < 20; ++i) {
    steps += "step " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(failure_reason(raised("", "ImportError: no flash") + steps + "no such GPU\n"),
            "no such GPU");
}

TEST(FailureReason, IsNothingThatLaunchersSayOfEveryFailure) {
  const std::string rule(74, '-');
  EXPECT_EQ(failure_reason("no such GPU\n" + rule +
                           "\nPrimary job  terminated normally, but 1 process returned\n"
                           "a non-zero exit code. Per user-direction, the job has been "
                           "aborted.\n" +
                           rule + "\n" + rule +
                           "\nmpirun detected that one or more processes exited with non-zero "
                           "status\n\n  Exit code:    1\n" +
                           rule + "\n"),
            "no such GPU");
  EXPECT_EQ(failure_reason("no such GPU\nsrun: error: n1: task 1: Exited with exit code 1\n"),
            "no such GPU");
  EXPECT_EQ(failure_reason("no such GPU\n====\n{\"event\": 1}\n"), "no such GPU");
  EXPECT_EQ(failure_reason("\n====\n"), "");
}

TEST(OutputPrefix, IsTakenOff) {
  const auto of = [](const std::string& line) {
    const RankLine found = without_prefix(line);
    return found.text + "|" + (found.rank ? std::to_string(*found.rank) : "-") +
           (found.certain ? "!" : "");
  };
  EXPECT_EQ(of("[default12]:step 1"), "step 1|12!");
  EXPECT_EQ(of("[rank0]: step 1"), "step 1|0!");
  EXPECT_EQ(of("[1,3]<stdout>:step 1"), "step 1|3!");
  EXPECT_EQ(of("[prterun-n1-7@1,3]<stderr>: step 1"), "step 1|3!");
  EXPECT_EQ(of("[2] step 1"), "step 1|2");
  EXPECT_EQ(of(" 3: step 1"), "step 1|3");
  EXPECT_EQ(of("1: [1,1]<stderr>:step 1"), "step 1|1!");
  EXPECT_EQ(of("1: [default0]:step 1"), "step 1|-!");
  EXPECT_EQ(of("step 1: 2 ms"), "step 1: 2 ms|-");
  EXPECT_EQ(of("[2026-11-28 22:59] step"), "[2026-11-28 22:59] step|-");
  EXPECT_EQ(of("10:32 step"), "10:32 step|-");
}

}  // namespace
}  // namespace paceline::launch
