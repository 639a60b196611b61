// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/environment.h"

#include <fstream>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace paceline::records {
namespace {

namespace fs = std::filesystem;
using Facts = std::map<std::string, std::string>;

/// A machine made of files: proc/, sys/, etc/ and an nvidia-smi.
class EnvironmentTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "paceline.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    sources_.root = name;
    sources_.nvidia_smi = name + "/nvidia-smi";
  }
  void TearDown() override { fs::remove_all(sources_.root); }

  void put(const fs::path& path, const std::string& text) const {
    fs::create_directories((sources_.root / path).parent_path());
    std::ofstream(sources_.root / path) << text;
  }

  void put_nvidia_smi(const std::string& script) const {
    put("nvidia-smi", "#!/bin/sh\n" + script);
    fs::permissions(sources_.nvidia_smi, fs::perms::owner_all);
  }

  void put_cpu(int cpu, int socket, int core, int khz) const {
    const fs::path folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu);
    put(folder / "topology/physical_package_id", std::to_string(socket) + "\n");
    put(folder / "topology/core_id", std::to_string(core) + "\n");
    put(folder / "cpufreq/scaling_governor", "performance\n");
    put(folder / "cpufreq/scaling_cur_freq", std::to_string(khz) + "\n");
    put(folder / "cpufreq/cpuinfo_max_freq", "3700000\n");
  }

  Facts facts() const { return collect_host(sources_).facts; }

  HostSources sources_;
};

TEST_F(EnvironmentTest, ReadsTheProcessor) {
  put("proc/cpuinfo",
      "processor\t: 0\nmodel name\t: AMD EPYC 9654\ncpu MHz\t\t: 2400.1\n"
      "flags\t\t: fpu avx2 avx512f hypervisor avx512_bf16 sse4_2\n");
  // Two sockets of two cores, one of them with two threads.
  put_cpu(0, 0, 0, 2000000);
  put_cpu(1, 0, 1, 2400000);
  put_cpu(2, 1, 0, 2400000);
  put_cpu(3, 1, 1, 2400000);
  put_cpu(10, 1, 1, 2800000);
  put("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "ignored");
  put("sys/devices/system/node/node10/cpulist", "10\n");
  put("sys/devices/system/node/node2/cpulist", "0-3\n");
  EXPECT_EQ(facts(), (Facts{{"cpu_model", "AMD EPYC 9654"},
                            {"cpu_isa", "sse4_2 avx2 avx512f avx512_bf16"},
                            {"virtualized", "yes"},
                            {"sockets", "2"},
                            {"cores", "4"},
                            {"threads", "5"},
                            {"numa_cpus", "0-3; 10"},
                            {"governor", "performance"},
                            {"clock_mhz", "2400"},
                            {"clock_max_mhz", "3700"}}));
}

TEST_F(EnvironmentTest, ReadsTheSystem) {
  put("proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
  put("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian 12\"\n");
  put("proc/meminfo", "MemTotal:       131923456 kB\nMemFree: 1 kB\n");
  put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  put("proc/sys/net/ipv4/tcp_congestion_control", "cubic\n");
  put("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-3,8\n");
  put("proc/loadavg", "0.50 1.25 2.00 1/234 5678\n");
  put("proc/pressure/cpu", "some avg10=0.63 avg60=0.72 avg300=0.54 total=9\n");
  EXPECT_EQ(facts(), (Facts{{"kernel", "6.1.0-13-amd64"},
                            {"os", "Debian 12"},
                            {"memory_gib", "126"},
                            {"transparent_hugepages", "madvise"},
                            {"tcp_congestion", "cubic"},
                            {"affinity", "0-3,8"},
                            {"load_average", "0.50 1.25 2.00"},
                            {"cpu_pressure_percent", "0.63"}}));
}

TEST_F(EnvironmentTest, AMachineThatSaysNothingHasNoFacts) { EXPECT_EQ(facts(), Facts{}); }

TEST_F(EnvironmentTest, TakesTheLeastCpuLimitOfTheGroupAndItsAncestors) {
  put("proc/self/cgroup", "0::/jobs/one/step\n");
  put("sys/fs/cgroup/jobs/one/step/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/jobs/one/cpu.max", "250000 100000\n");
  put("sys/fs/cgroup/jobs/cpu.max", "800000 100000\n");
  EXPECT_EQ(facts().at("cpu_limit"), "2.5");
}

TEST_F(EnvironmentTest, ReadsTheCpuLimitOfTheFirstCgroupVersion) {
  put("proc/self/cgroup", "4:memory:/x\n1:cpu,cpuacct:/docker/abc\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(facts().at("cpu_limit"), "1.5");
}

TEST_F(EnvironmentTest, WithoutAQuotaThereIsNoCpuLimit) {
  put("proc/self/cgroup", "1:cpu:/\n0::/\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(facts().count("cpu_limit"), 0U);
}

TEST_F(EnvironmentTest, CountsGpusAndTakesTheirTopology) {
  put_nvidia_smi(R"(if [ "$1" = topo ]; then
  printf '\033[4mGPU0\033[0m GPU1\n'
else
  echo '550.54, NVIDIA H200, 143771, 1980, 700.00, 5, 16'
  echo '550.54, NVIDIA H200, 143771, 1980, 700.00, 5, 16'
fi)");
  const HostEnvironment host = collect_host(sources_);
  EXPECT_EQ(host.facts, (Facts{{"gpus", "2 x NVIDIA H200"},
                               {"driver", "550.54"},
                               {"gpu_memory_mib", "143771"},
                               {"gpu_clock_max_mhz", "1980"},
                               {"gpu_power_limit_w", "700.00"},
                               {"gpu_pcie", "2 x gen5 x16"}}));
  EXPECT_EQ(host.topology, "GPU0 GPU1\n");
}

TEST_F(EnvironmentTest, SaysHowNvidiaSmiFailed) {
  put_nvidia_smi("exit 9\n");
  EXPECT_EQ(facts(), (Facts{{"nvidia_smi", "failed with 9"}}));
}

TEST_F(EnvironmentTest, ADriverThatHangsDoesNotHangTheRun) {
  put_nvidia_smi("exec sleep 600\n");
  sources_.nvidia_smi_deadline = std::chrono::milliseconds(200);
  EXPECT_EQ(facts(), (Facts{{"nvidia_smi", "no answer within 200 ms"}}));
}

TEST(CollectHost, KnowsThisMachine) {
  const HostEnvironment host = collect_host();
  EXPECT_FALSE(host.host.empty());
  for (const char* key : {"kernel", "threads", "memory_gib", "affinity"}) {
    EXPECT_EQ(host.facts.count(key), 1U) << key;
  }
}

TEST(AllowedVariables, KeepsOnlyWhatTheListNames) {
  const std::vector<const char*> environment{
      "NCCL_ALGO=Ring",
      "TORCH_NCCL_ASYNC_ERROR_HANDLING=1",
      "GLOO_SOCKET_IFNAME=eth0",
      "OMP_NUM_THREADS=4",
      "MKL_NUM_THREADS=2",
      "CUDA_VISIBLE_DEVICES=",
      "OMPI_MCA_btl_tcp_if_include=eth0",
      "PATH=/bin",
      "HOME=/root",
      "USER=me",
      "LD_LIBRARY_PATH=/lib",
      "GITHUB_TOKEN=abc",
      "AWS_SECRET_ACCESS_KEY=abc",
      "NCCL_AUTH_TOKEN=abc",
      "NCCL_api_key=abc",
      "NCCL_PROXY=http://me:pass@host",
      "OMPI_MCA_orte_precondition_transports=abc",
      "OMPI_MCA_orte_hnp_uri=1;tcp",
      "OMPI_MCA_btl_vader_backing_directory=/dev/shm/of-this-run",
      "MY_NCCL_ALGO=Tree",
      "NCCL_WITHOUT_VALUE",
      nullptr};
  EXPECT_EQ(allowed_variables(environment.data()),
            (Facts{{"NCCL_ALGO", "Ring"},
                   {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"},
                   {"GLOO_SOCKET_IFNAME", "eth0"},
                   {"OMP_NUM_THREADS", "4"},
                   {"MKL_NUM_THREADS", "2"},
                   {"CUDA_VISIBLE_DEVICES", ""},
                   {"OMPI_MCA_btl_tcp_if_include", "eth0"}}));
  EXPECT_TRUE(allowed_variables(nullptr).empty());
}

TEST(Differences, AreNothingBetweenAlikeHosts) {
  const std::vector<HostEnvironment> hosts{
      {.host = "n1",
       .facts =
           {{"cores", "8"}, {"load_average", "1"}, {"clock_mhz", "2000"}, {"memory_gib", "125"}},
       .topology = "GPU0 GPU1\n"},
      {.host = "n2",
       .facts = {{"cores", "8"}, {"load_average", "2"}, {"memory_gib", "126"}},
       .topology = "GPU0 GPU1\n"}};
  EXPECT_EQ(differences(hosts), std::nullopt);
  EXPECT_EQ(differences({}), std::nullopt);
}

TEST(Differences, NameTheFactItsValuesAndTheirHosts) {
  const auto host = [](const char* name, const char* model) {
    return HostEnvironment{
        .host = name, .facts = {{"cpu_model", model}, {"z", model}}, .topology = ""};
  };
  const std::vector<HostEnvironment> hosts{host("n1", "A"), host("n2", "B"), host("n3", "A"),
                                           host("n4", "A"), host("n5", "A")};
  EXPECT_EQ(differences(hosts), "cpu_model: A on n1, n3, n4 and 1 more; B on n2");
}

TEST(Differences, AFactThatOnlyOneHostHasIsADifference) {
  const std::vector<HostEnvironment> hosts{
      {.host = "n1", .facts = {{"driver", "550"}}, .topology = ""},
      {.host = "n2", .facts = {}, .topology = ""}};
  EXPECT_EQ(differences(hosts), "driver: 550 on n1; unknown on n2");
}

TEST(Differences, MemoryThatReallyDiffersIsOne) {
  const std::vector<HostEnvironment> hosts{
      {.host = "n1", .facts = {{"memory_gib", "126"}}, .topology = ""},
      {.host = "n2", .facts = {{"memory_gib", "252"}}, .topology = ""}};
  EXPECT_EQ(differences(hosts), "memory_gib: 126 on n1; 252 on n2");
}

TEST(Differences, SeeTheTopologyLast) {
  const std::vector<HostEnvironment> hosts{
      {.host = "n1", .facts = {{"cores", "8"}}, .topology = "L3 32 MiB"},
      {.host = "n2", .facts = {{"cores", "8"}}, .topology = "L3 16 MiB"}};
  EXPECT_EQ(differences(hosts), "topology: that of n2 is not that of n1");
}

}  // namespace
}  // namespace paceline::records
