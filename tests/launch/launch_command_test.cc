// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/launch_command.h"

#include <gtest/gtest.h>

namespace paceline::launch {
namespace {

const LaunchShape kShape{2, 4, {"paceline", "run", "--model", "it's"}};

TEST(LaunchLine, slurm) {
  EXPECT_EQ(launch_line("slurm", kShape).command,
            "srun --nodes=2 --ntasks-per-node=4 --kill-on-bad-exit=1 --cpu-bind=none paceline run "
            "--model 'it'\\''s'\n");
  EXPECT_EQ(launch_line("slurm", {1, 2, {"paceline"}, true}).command,
            "srun --nodes=1 --ntasks-per-node=2 --kill-on-bad-exit=1 --cpu-bind=none --mpi=pmix "
            "paceline\n");
}

TEST(LaunchLine, mpirun_on_several_hosts_gets_a_rendezvous) {
  EXPECT_EQ(launch_line("mpirun", kShape).command,
            "mpirun -np 8 -H FIRST_HOST:4,HOST_2:4 --map-by ppr:4:node --bind-to none paceline run "
            "--model 'it'\\''s' --rendezvous FIRST_HOST:29500\n");
  EXPECT_EQ(launch_line("mpirun", {1, 2, {"paceline", "run"}}).command,
            "mpirun -np 2 --map-by ppr:2:node --bind-to none paceline run\n");
  EXPECT_EQ(launch_line("mpirun", {2, 1, {"paceline", "--rendezvous=n1:7"}}).command,
            "mpirun -np 2 -H FIRST_HOST:1,HOST_2:1 --map-by ppr:1:node --bind-to none paceline "
            "--rendezvous=n1:7\n");
}

TEST(LaunchLine, torchrun) {
  EXPECT_EQ(launch_line("torchrun", {1, 2, {"paceline", "run"}}).command,
            "torchrun --standalone --nproc-per-node=2 --no-python paceline run\n");
  EXPECT_EQ(launch_line("torchrun", {2, 2, {"paceline", "run"}}).command,
            "torchrun --nnodes=2 --rdzv-backend=c10d --rdzv-endpoint=FIRST_HOST:29500 "
            "--nproc-per-node=2 --no-python paceline run\n");
}

TEST(LaunchLine, a_note_says_what_to_fill_in) {
  EXPECT_EQ(launch_line("slurm", kShape).note, "");
  EXPECT_EQ(launch_line("mpirun", {1, 2, {}}).note, "");
  EXPECT_EQ(launch_line("mpirun", kShape).note,
            "put the names of your hosts in place of FIRST_HOST and HOST_2\n");
  EXPECT_EQ(launch_line("mpirun", {4, 2, {}}).note,
            "put the names of your hosts in place of FIRST_HOST, HOST_2 ... HOST_4\n");
  EXPECT_EQ(launch_line("torchrun", kShape).note,
            "run this line on each of the 2 hosts, with the name of the first one in place of "
            "FIRST_HOST\n");
}

}  // namespace
}  // namespace paceline::launch
