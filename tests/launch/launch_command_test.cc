// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/launch_command.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::launch {
namespace {

const LaunchShape kShape{2, 4, {"paceline", "run", "--model", "it's"}};

TEST(LaunchLine, slurm) {
  EXPECT_EQ(launch_command("slurm", kShape),
            "srun --nodes=2 --ntasks-per-node=4 --kill-on-bad-exit=1 --cpu-bind=none paceline run "
            "--model 'it'\\''s'");
  EXPECT_EQ(launch_command("slurm", {1, 2, {"paceline"}, true}),
            "srun --nodes=1 --ntasks-per-node=2 --kill-on-bad-exit=1 --cpu-bind=none --mpi=pmix "
            "paceline");
}

TEST(LaunchLine, mpirun_on_several_hosts_gets_a_rendezvous) {
  EXPECT_EQ(launch_command("mpirun", kShape),
            "mpirun -np 8 -H FIRST_HOST:4,HOST_2:4 --map-by ppr:4:node --bind-to none paceline run "
            "--model 'it'\\''s' --rendezvous FIRST_HOST:29500");
  EXPECT_EQ(launch_command("mpirun", {1, 2, {"paceline", "run"}}),
            "mpirun -np 2 --map-by ppr:2:node --bind-to none paceline run");
  EXPECT_EQ(launch_command("mpirun", {2, 1, {"paceline", "--rendezvous=n1:7"}}),
            "mpirun -np 2 -H FIRST_HOST:1,HOST_2:1 --map-by ppr:1:node --bind-to none paceline "
            "--rendezvous=n1:7");
}

TEST(LaunchLine, torchrun) {
  EXPECT_EQ(launch_command("torchrun", {1, 2, {"paceline", "run"}}),
            "torchrun --standalone --nproc-per-node=2 --no-python paceline run");
  EXPECT_EQ(launch_command("torchrun", {2, 2, {"paceline", "run"}}),
            "torchrun --nnodes=2 --rdzv-backend=c10d --rdzv-endpoint=FIRST_HOST:29500 "
            "--nproc-per-node=2 --no-python paceline run");
}

TEST(LaunchLine, a_note_says_what_to_fill_in) {
  EXPECT_EQ(launch_note("slurm", kShape), "");
  EXPECT_EQ(launch_note("mpirun", {1, 2, {}}), "");
  EXPECT_EQ(launch_note("mpirun", kShape),
            "put the names of your hosts in place of FIRST_HOST and HOST_2\n");
  EXPECT_EQ(launch_note("mpirun", {4, 2, {}}),
            "put the names of your hosts in place of FIRST_HOST, HOST_2 ... HOST_4\n");
  EXPECT_EQ(launch_note("torchrun", kShape),
            "run this line on each of the 2 hosts, with the name of the first one in place of "
            "FIRST_HOST\n");
}

TEST(LaunchLine, rejects_what_it_does_not_know) {
  EXPECT_THROW(launch_command("qsub", kShape), UsageError);
  EXPECT_THROW(launch_command("slurm", {0, 1, {}}), UsageError);
}

}  // namespace
}  // namespace paceline::launch
