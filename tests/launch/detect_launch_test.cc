// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/detect_launch.h"

#include <map>

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::launch {
namespace {

using Variables = std::map<std::string, std::string>;

Launch detect(const Variables& variables, const std::string& rendezvous = "") {
  const Environment environment = [&](const std::string& name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional(it->second);
  };
  return detect_launch(environment, rendezvous, "h0", 4711);
}

TcpRendezvous tcp(const Launch& launch) { return std::get<TcpRendezvous>(launch.rendezvous); }

const Variables kTorchrun{{"RANK", "3"},
                          {"WORLD_SIZE", "4"},
                          {"LOCAL_RANK", "1"},
                          {"LOCAL_WORLD_SIZE", "2"},
                          {"MASTER_ADDR", "n1"},
                          {"MASTER_PORT", "29400"},
                          {"TORCHELASTIC_RUN_ID", "abc"},
                          {"TORCHELASTIC_RESTART_COUNT", "2"},
                          {"TORCHELASTIC_USE_AGENT_STORE", "True"}};

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) {
    variables[name] = value;
  }
  return variables;
}

TEST(Place, no_launcher_is_a_world_of_one) {
  const auto launch = detect({{"HOME", "/root"}});
  EXPECT_EQ(launch.self.world, 1);
  EXPECT_EQ(launch.self.launcher, "single");
  EXPECT_EQ(launch.self.host, "h0");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(launch.rendezvous));
}

TEST(Place, torchrun_serves_the_store_itself) {
  const auto launch = detect(with(kTorchrun, {{"RANK", "0"}}));
  EXPECT_EQ(launch.self.launcher, "torchrun");
  EXPECT_EQ(launch.job, "abc-2");
  EXPECT_FALSE(tcp(launch).serve);
  EXPECT_EQ(tcp(launch).host, "n1");
  EXPECT_EQ(tcp(launch).port, 29400);
  EXPECT_TRUE(launch.has_local_rank);
  // Without the agent's store, rank 0 serves.
  auto variables = with(kTorchrun, {{"RANK", "0"}});
  variables.erase("TORCHELASTIC_USE_AGENT_STORE");
  EXPECT_TRUE(tcp(detect(variables)).serve);
  EXPECT_FALSE(tcp(detect(with(variables, {{"RANK", "1"}}))).serve);
}

TEST(Place, our_own_ranks_are_clients) {
  const auto launch = detect({{"RANK", "0"},
                              {"WORLD_SIZE", "2"},
                              {"MASTER_ADDR", "127.0.0.1"},
                              {"MASTER_PORT", "5"},
                              {kLaunchVariable, "17-1"}});
  EXPECT_EQ(launch.self.launcher, "paceline");
  EXPECT_EQ(launch.job, "17-1");
  EXPECT_FALSE(tcp(launch).serve);
}

TEST(Place, rendezvous_overrides_the_launcher) {
  const auto tcp_launch = detect(with(kTorchrun, {{"RANK", "0"}}), "other:1234");
  EXPECT_EQ(tcp(tcp_launch).host, "other");
  EXPECT_EQ(tcp(tcp_launch).port, 1234);
  EXPECT_TRUE(tcp(tcp_launch).serve);
  const auto file = detect(kTorchrun, "file:/shared/meet");
  EXPECT_EQ(std::get<FileRendezvous>(file.rendezvous).path, "/shared/meet");
  for (const char* bad : {"other", ":12", "other:", "other:99999", "other:x"}) {
    EXPECT_THROW(detect(kTorchrun, bad), UsageError) << bad;
  }
  EXPECT_THROW(detect({}, "other:1234"), UsageError);
}

const Variables kOpenMpi{{"OMPI_COMM_WORLD_RANK", "0"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                         {"PMIX_NAMESPACE", "123.1"}};

TEST(Place, mpirun_on_one_host_meets_on_the_loopback) {
  const auto launch = detect(kOpenMpi);
  EXPECT_EQ(launch.self.launcher, "mpirun");
  EXPECT_EQ(tcp(launch).host, "127.0.0.1");
  EXPECT_TRUE(tcp(launch).serve);
  EXPECT_GE(tcp(launch).port, 20'000);
  EXPECT_LT(tcp(launch).port, 32'768);
  const auto other = detect(with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "1"}}));
  EXPECT_EQ(tcp(other).port, tcp(launch).port);
  EXPECT_FALSE(tcp(other).serve);
  // Another job on the same host gets another port.
  EXPECT_NE(tcp(detect(with(kOpenMpi, {{"PMIX_NAMESPACE", "124.1"}}))).port, tcp(launch).port);
}

TEST(Place, mpirun_on_several_hosts_asks_where_to_meet) {
  const auto variables = with(kOpenMpi, {{"OMPI_COMM_WORLD_SIZE", "4"}});
  EXPECT_THROW(detect(variables), UsageError);
  EXPECT_EQ(tcp(detect(variables, "n1:4000")).port, 4000);
  EXPECT_EQ(tcp(detect(with(variables, {{"MASTER_ADDR", "n1"}, {"MASTER_PORT", "77"}}))).port, 77);
}

TEST(Place, hydra_ranks_of_one_parent_meet) {
  const auto launch = detect(
      {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}});
  EXPECT_EQ(launch.self.rank, 1);
  EXPECT_EQ(launch.job, "hydra-4711");
}

TEST(Place, mvapich_ranks_of_one_parent_meet) {
  const Variables variables{{"MV2_COMM_WORLD_RANK", "1"},
                            {"MV2_COMM_WORLD_SIZE", "2"},
                            {"MV2_COMM_WORLD_LOCAL_RANK", "1"},
                            {"MV2_COMM_WORLD_LOCAL_SIZE", "2"}};
  const auto launch = detect(variables);
  EXPECT_EQ(launch.self.launcher, "mpirun_rsh");
  EXPECT_EQ(launch.self.rank, 1);
  EXPECT_EQ(launch.self.world, 2);
  EXPECT_EQ(launch.job, "mvapich-4711");
  EXPECT_EQ(tcp(launch).host, "127.0.0.1");
  EXPECT_THROW(detect(with(variables, {{"MV2_COMM_WORLD_SIZE", "4"}})), UsageError);
}

TEST(Place, a_rank_above_0_of_an_unknown_launcher_is_no_world_of_one) {
  for (const char* name : {"PMIX_RANK", "PMI_RANK", "PALS_RANKID", "FLUX_TASK_RANK"}) {
    try {
      detect({{name, "1"}});
      ADD_FAILURE() << name;
    } catch (const UsageError& error) {
      EXPECT_TRUE(
          std::string(error.what()).starts_with(std::string(name) + "=1 in the environment"))
          << error.what();
    }
    EXPECT_EQ(detect({{name, "0"}}).self.launcher, "single");
  }
}

TEST(Place, takes_addresses_with_colons) {
  EXPECT_EQ(tcp(detect(with(kTorchrun, {{"MASTER_ADDR", "[::1]"}}))).host, "::1");
  EXPECT_EQ(tcp(detect(with(kTorchrun, {{"MASTER_ADDR", "::1"}}))).host, "::1");
  const TcpRendezvous given = tcp(detect(kTorchrun, "[fd00::7]:4000"));
  EXPECT_EQ(given.host, "fd00::7");
  EXPECT_EQ(given.port, 4000);
}

const Variables kSlurm{{"SLURM_PROCID", "3"},
                       {"SLURM_NTASKS", "5"},
                       {"SLURM_STEP_NUM_TASKS", "5"},
                       {"SLURM_STEP_NODELIST", "n[07-08]"},
                       {"SLURM_STEP_TASKS_PER_NODE", "3,2"},
                       {"SLURM_LOCALID", "0"},
                       {"SLURM_NODEID", "1"},
                       {"SLURM_JOB_ID", "42"},
                       {"SLURM_STEP_ID", "0"}};

TEST(Place, slurm_steps_meet_on_their_first_node) {
  const auto launch = detect(kSlurm);
  EXPECT_EQ(launch.self.launcher, "srun");
  EXPECT_EQ(launch.self.rank, 3);
  EXPECT_EQ(launch.self.world, 5);
  EXPECT_EQ(launch.self.local_rank, 0);
  EXPECT_EQ(launch.self.local_world, 2);
  EXPECT_EQ(tcp(launch).host, "n07");
  EXPECT_FALSE(tcp(launch).serve);
  EXPECT_EQ(launch.job, "slurm-42.0");
  EXPECT_TRUE(tcp(detect(with(kSlurm, {{"SLURM_PROCID", "0"}}))).serve);
}

TEST(Place, slurm_batch_scripts_are_not_steps) {
  auto variables = kSlurm;
  variables.erase("SLURM_STEP_NODELIST");
  variables.erase("SLURM_STEP_NUM_TASKS");
  EXPECT_EQ(detect(variables).self.launcher, "single");
}

TEST(Place, mpi_inside_a_slurm_step_is_mpi) {
  EXPECT_EQ(detect(with(kSlurm, kOpenMpi)).self.launcher, "mpirun");
  // srun --mpi=pmi2 sets PMI_RANK for the step's own tasks...
  EXPECT_EQ(detect(with(kSlurm, {{"PMI_RANK", "3"}, {"PMI_SIZE", "5"}})).self.launcher, "srun");
  // ... Hydra over srun has ranks that are not the step's tasks.
  const auto hydra = detect(with(
      kSlurm,
      {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}}));
  EXPECT_EQ(hydra.self.launcher, "mpirun");
  EXPECT_EQ(hydra.self.rank, 1);
}

TEST(Place, nonsense_names_its_variable) {
  for (const auto& [variables, name] :
       {std::pair{with(kTorchrun, {{"RANK", "x"}}), "RANK='x'"},
        std::pair{with(kTorchrun, {{"RANK", "4"}}), "RANK=4"},
        std::pair{with(kTorchrun, {{"MASTER_PORT", "x"}}), "MASTER_PORT"}}) {
    try {
      detect(variables);
      ADD_FAILURE() << name;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
}

TEST(Place, our_launcher_names_the_host) {
  const Variables ours{{"RANK", "3"},
                       {"WORLD_SIZE", "4"},
                       {"LOCAL_RANK", "1"},
                       {"LOCAL_WORLD_SIZE", "2"},
                       {"MASTER_ADDR", "10.0.0.1"},
                       {"MASTER_PORT", "29400"},
                       {kLaunchVariable, "job"},
                       {kLaunchHostVariable, "b"}};
  const Launch launch = detect(ours);
  EXPECT_EQ(launch.self.launcher, "paceline");
  EXPECT_EQ(launch.self.host, "b");
  EXPECT_EQ(launch.self.local_rank, 1);
  EXPECT_EQ(tcp(launch).host, "10.0.0.1");
  EXPECT_FALSE(tcp(launch).serve);
  EXPECT_EQ(detect(kTorchrun).self.host, "h0");
}

TEST(Place, knows_whether_it_was_launched) {
  const auto launched = [](const Variables& variables) {
    return is_launched([&](const std::string& name) {
      const auto it = variables.find(name);
      return it == variables.end() ? std::nullopt : std::optional(it->second);
    });
  };
  EXPECT_FALSE(launched({}));
  EXPECT_FALSE(launched({{"RANK", "0"}}));
  EXPECT_TRUE(launched(kTorchrun));
  EXPECT_TRUE(launched({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}));
}

}  // namespace
}  // namespace paceline::launch
