// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/cluster.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cluster/message_of.h"
#include "paceline/base/error.h"
#include "paceline/cluster/cluster_choice.h"
#include "paceline/cluster/cluster_units.h"

namespace paceline::cluster {
namespace {

constexpr std::string_view kFile = R"(
name = "two racks"
source = "a test"

[[hosts]]
name = "gpu"
count = 3
slots = 4
interface = "eth0"

[[hosts]]
name = "head"

[[links]]
name = "network"
rate = "10Gbit"
latency = "50us"

[[links.fits]]
operation = "all-reduce"
ranks = 8
engine = "nccl"
device = "cuda"
error_percent = 2.5
pieces = [
  { alpha = "100us", beta_ps_per_byte = 2000 },
  { from_bytes = 65536, alpha = "300us", beta_ps_per_byte = 1000.5 },
]

[[links]]
joins = "devices"
sharing = "device"
duplex = "half"
rate = "12.5 GB/s"

[device]
name = "RTX 2080 Ti"
flops = "13.4TFLOP/s"
fp8_flops = "26.8TFLOP/s"
memory = "11GiB"
memory_bandwidth = "616GB/s"
[[device.throughput]]
model = "resnet50"
batch_size = 64
samples_per_s = 253.1
)";

TEST(Cluster, ReadsEveryKey) {
  const Cluster cluster = parse_cluster(kFile, "c.toml");
  ASSERT_EQ(cluster.hosts.size(), 4u);
  EXPECT_EQ(cluster.hosts[2].name, "gpu2");
  EXPECT_EQ(cluster.hosts[2].slots, 4);
  EXPECT_EQ(cluster.hosts[2].interface, "eth0");
  EXPECT_EQ(cluster.hosts[3].name, "head");
  EXPECT_EQ(cluster.slots(), 13);
  const ClusterLink* network = cluster.link(LinkScope::kHosts);
  ASSERT_NE(network, nullptr);
  EXPECT_EQ(network->bytes_per_s, 1.25e9);
  EXPECT_EQ(network->latency_ps, 50'000'000);
  EXPECT_TRUE(network->full_duplex);
  EXPECT_EQ(network->sharing, LinkSharing::kHost);
  ASSERT_EQ(network->fits.size(), 1u);
  EXPECT_EQ(network->fits[0].line.pieces[1].from_bytes, 65536);
  EXPECT_EQ(network->fits[0].line.pieces[1].beta_ps_per_byte, 1000.5);
  EXPECT_EQ(network->fits[0].error_percent, 2.5);
  EXPECT_EQ(network->fits[0].engine, "nccl");
  EXPECT_EQ(network->fits[0].device, "cuda");
  const ClusterLink* bus = cluster.link(LinkScope::kDevices);
  ASSERT_NE(bus, nullptr);
  EXPECT_EQ(bus->bytes_per_s, 12.5e9);
  EXPECT_EQ(bus->sharing, LinkSharing::kDevice);
  EXPECT_FALSE(bus->full_duplex);
  EXPECT_EQ(cluster.device.flops_per_s, 13.4e12);
  EXPECT_EQ(cluster.device.fp8_flops_per_s, 26.8e12);
  EXPECT_EQ(cluster.device.memory_bytes, 11LL << 30);
  EXPECT_EQ(cluster.device.throughputs.at(0).samples_per_s, 253.1);
}

TEST(Cluster, WritesWhatItReads) {
  const std::string once = to_toml(parse_cluster(kFile, "c.toml"));
  const Cluster again = parse_cluster(once, "d.toml");
  EXPECT_EQ(to_toml(again), once);
  EXPECT_EQ(again.hosts.size(), 4u);
  EXPECT_EQ(again.link(LinkScope::kHosts)->fits[0].line.pieces[0].alpha, 100'000'000);
  EXPECT_EQ(again.link(LinkScope::kHosts)->fits[0].error_percent, 2.5);
  EXPECT_EQ(again.link(LinkScope::kHosts)->fits[0].engine, "nccl");
  EXPECT_EQ(again.link(LinkScope::kHosts)->fits[0].device, "cuda");
  EXPECT_FALSE(again.link(LinkScope::kDevices)->full_duplex);
  EXPECT_EQ(again.device.throughputs.at(0).samples_per_s, 253.1);
}

TEST(Cluster, FillsHostsInOrder) {
  const Cluster cluster = parse_cluster(kFile, "c.toml");
  EXPECT_EQ(ranks_per_host(cluster, 6), (std::vector<plan::Rank>{4, 2}));
  EXPECT_EQ(ranks_per_host(cluster, 13), (std::vector<plan::Rank>{4, 4, 4, 1}));
  try {
    ranks_per_host(cluster, 14);
    FAIL() << "14 ranks fit nowhere";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "a world of 14 ranks does not fit on cluster 'two racks': 4 hosts have 13 slots");
  }
}

TEST(Cluster, NamesTheOffendingValue) {
  const std::string hosts = "[[hosts]]\nname = 'a'\n";
  EXPECT_EQ(message_of(""), "c.toml: a cluster needs at least one of [[hosts]]");
  EXPECT_EQ(message_of("[[hosts]]\nslots = 0\n"),
            "c.toml:2: [[hosts]] slots = 0: must be 1 to 1048576");
  EXPECT_EQ(message_of(hosts + "[[links]]\nrate = '-1Gbit'\n"),
            "c.toml:4: [[links]] rate = '-1Gbit': must be a rate above 0, like 10Gbit or 12.5GB/s");
  EXPECT_EQ(message_of(hosts + "[[links]]\nrate = '10bit'\n"),
            "c.toml:3: link 'hosts' has a rate of 1.25 bytes/s; it must be at least 1000");
  EXPECT_EQ(message_of(hosts + "[[links]]\nrate = '8000bit'\n"), "no error");
  EXPECT_EQ(message_of(hosts + "[[links]]\nrate = '1Gbit'\nlatency = '-1us'\n"),
            "c.toml:5: [[links]] latency = '-1us': must be a duration, not negative, in ps, ns, "
            "us, ms or s, like 50us");
  EXPECT_EQ(message_of(hosts + "[[links]]\nrat = '1Gbit'\n"),
            "c.toml:4: unknown key of [[links]] 'rat'; did you mean 'rate'? Known: name, joins, "
            "sharing, duplex, rate, latency, under_compute, decline, fits, calibration");
  EXPECT_EQ(message_of(hosts + "[[links]]\nrate = '1Gbit'\njoins = 'racks'\n"),
            "c.toml:5: [[links]] joins = 'racks': known are hosts, devices");
  EXPECT_EQ(message_of(hosts + "[[hosts]]\nname = 'a'\n"),
            "c.toml: two hosts have the name 'a'; give each its own");
  EXPECT_EQ(message_of(hosts + "[device]\nflops = 13\n"),
            "c.toml:4: [device] flops = 13: must be text");
  EXPECT_TRUE(message_of("[[hosts]").starts_with("c.toml:1: not TOML:"));
}

// A line and a value in each rejection.
TEST(Cluster, NamesTheLineOfAFit) {
  const std::string before =
      "[[hosts]]\nname = 'a'\n[[links]]\nrate = '1Gbit'\n"
      "[[links.fits]]\noperation = 'message'\n";  // 6 lines
  const std::string pieces = "pieces = [{alpha = '1us'}]\n";
  for (const auto& [line, why] :
       {std::pair<std::string, std::string>{
            "engine = 'mp1'",
            "engine = 'mp1': known are gloo, nccl, mpi, bytescheduler, byteps, bluefog"},
        {"device = 'gpu'", "device = 'gpu': known are cpu, cuda"},
        {"error_percent = -1.5", "error_percent = -1.5: must be a number, 0 or more"},
        {"error_percent = nan", "error_percent = nan: must be a number, 0 or more"},
        {"ranks_per_host = [2, 0]",
         "ranks_per_host = [ 2, 0 ]: must be whole numbers above 0, like [4, "
         "4]"}}) {
    EXPECT_EQ(message_of(before + line + "\n" + pieces), "c.toml:7: [[links.fits]] " + why);
  }
  EXPECT_EQ(
      message_of(before + "pieces = []\n"),
      "c.toml:5: the fit of message among 2 ranks: pieces = []: a fit has at least one piece");
  EXPECT_EQ(message_of(before + "ranks_per_host = [1, 2]\n" + pieces),
            "c.toml:5: the fit of message among 2 ranks: ranks_per_host = [1, 2]: the sum must be "
            "ranks");
  EXPECT_EQ(message_of(before + "pieces = [{alpha = '1us', beta_ps_per_byte = -2}]\n"),
            "c.toml:7: [[links.fits.pieces]] beta_ps_per_byte = -2: must be a number, 0 or more");
  EXPECT_EQ(message_of("[[hosts]]\n[[links]]\nrate = '1Gbit'\n[[links.fits]]\n"
                       "operation = 'allreduce'\n" +
                       pieces),
            "c.toml:5: [[links.fits]] operation = 'allreduce': known are all-reduce, "
            "reduce-scatter, all-gather, broadcast, message");
}

TEST(Cluster, NamesTheLineOfAHostOrLink) {
  EXPECT_EQ(message_of("[[hosts]]\nname = ''\n"),
            "c.toml:1: host '': a name is not empty and does not begin with '-', which would be "
            "an option of ssh");
  EXPECT_EQ(message_of("[[hosts]]\nname = '-l'\n"),
            "c.toml:1: host '-l': a name is not empty and does not begin with '-', which would be "
            "an option of ssh");
  const std::string links =
      "[[hosts]]\n[[links]]\nname = 'n'\nrate = '1Gbit'\n[[links]]\n"
      "rate = '1Gbit'\n";
  EXPECT_EQ(message_of(links + "name = 'm'\njoins = 'hosts'\n"),
            "c.toml:5: link 'm' joins what link 'n' joins already; one link per 'joins'");
  EXPECT_EQ(message_of(links + "name = 'n'\njoins = 'devices'\n"),
            "c.toml:5: two links have the name 'n'; give each its own");
}

TEST(Cluster, RejectsImpossibleFits) {
  const auto with = [](const std::string& pieces) {
    return message_of(
        "[[hosts]]\nname = 'a'\n[[links]]\nrate = '1Gbit'\n[[links.fits]]\noperation = "
        "'message'\npieces = [" +
        pieces + "]\n");
  };
  EXPECT_EQ(with("{alpha = '60s', beta_ps_per_byte = 1e9}"), "no error");
  const std::string fit = "c.toml:5: the fit of message among 2 ranks: ";
  const std::string most = "; they may be at most 60 s and 1e+09";
  EXPECT_EQ(with("{alpha = '61s'}"), fit + "a piece of alpha 61 s and beta_ps_per_byte 0" + most);
  EXPECT_EQ(with("{beta_ps_per_byte = 1.1e9}"),
            fit + "a piece of alpha 0 s and beta_ps_per_byte 1.1e+09" + most);
  EXPECT_EQ(with("{alpha = '1us'}, {alpha = '2us'}"),
            fit + "a piece from 0 bytes follows one from 0; sizes must rise");
}

TEST(Cluster, ReadsHostListsAndHostfiles) {
  const auto hosts = parse_host_list("a:4, b");
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].name, "a");
  EXPECT_EQ(hosts[0].slots, 4);
  EXPECT_EQ(hosts[1].slots, 1);
  EXPECT_THROW(parse_host_list("a:0"), UsageError);
  EXPECT_THROW(parse_host_list("a,,b"), UsageError);
  // A host that comes again adds its slots, as in a hostfile.
  const auto again = parse_host_list("a:1,b,a:2");
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].slots, 3);
  EXPECT_EQ(again[1].slots, 1);
  EXPECT_THROW(parse_host_list("a:16777216,a:1"), UsageError);
  const auto filed = parse_hostfile("# mine\na slots=2\nb:3 # two\nc\n", "h");
  ASSERT_EQ(filed.size(), 3u);
  EXPECT_EQ(filed[0].slots, 2);
  EXPECT_EQ(filed[1].slots, 3);
  EXPECT_EQ(filed[2].slots, 1);
}

// Open MPI's words, MPICH's colon, and a node file with a line per slot.
TEST(Cluster, HostfilesOfBothMpis) {
  const auto open_mpi = parse_hostfile("a slots=4 max-slots=8\nb  slots=2\tmax_slots=2\n", "h");
  ASSERT_EQ(open_mpi.size(), 2u);
  EXPECT_EQ(open_mpi[0].slots, 4);
  EXPECT_EQ(open_mpi[1].slots, 2);
  const auto mpich = parse_hostfile("a:4 # four\nb\n", "h");
  ASSERT_EQ(mpich.size(), 2u);
  EXPECT_EQ(mpich[0].slots, 4);
  EXPECT_EQ(mpich[1].slots, 1);
  const auto lines = parse_hostfile("a\na\nb\na\n", "h");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].slots, 3);
  for (const char* bad : {"a max-slots=\n", "a 4\n", "a slots=x\n", "\n"}) {
    EXPECT_THROW(parse_hostfile(bad, "h"), UsageError) << bad;
  }
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_hostfile(text, "h");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  };
  for (const std::string slots : {"x", "0", "-99999999999", "4x"}) {
    EXPECT_EQ(message("a\nb slots=" + slots + "\n"),
              "h:2: host 'b' has '" + slots + "' slots; it needs a whole number above 0");
  }
  EXPECT_EQ(message("a slots=99999999999\n"),
            "h:1: host 'a' has 99999999999 slots; at most 16777216 are supported");
}

TEST(Cluster, HostsThatNobodyCanReachAreRejected) {
  const auto message = [](const ClusterChoice& choice) -> std::string {
    try {
      read_cluster(choice);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message({.hosts = "localhost:2:3"}),
            "--hosts localhost:2:3: 'localhost:2:3' has more than one colon; hosts are written "
            "a:4,b:4, an IPv6 address [fd00::7]:4");
  EXPECT_EQ(message({.hosts = "a,-oProxyCommand=x"}),
            "--hosts a,-oProxyCommand=x: host '-oProxyCommand=x': a name is not empty and does not "
            "begin with '-', which would be an option of ssh");
  try {
    parse_hostfile(std::string_view("a\nb\0c\n", 6), "h");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "h:2: it has a NUL byte; a hostfile is text");
  }
}

TEST(Cluster, HostsInPlaceOfTheFiles) {
  const std::string path =
      std::filesystem::path(PACELINE_SOURCE_DIR) / "clusters/8x4-2080ti-10gbe.toml";
  const Cluster whole = read_cluster(ClusterChoice{.file = path});
  EXPECT_EQ(whole.slots(), 32);
  const Cluster part = read_cluster(ClusterChoice{.file = path, .hosts = "x:2,y:3"});
  ASSERT_EQ(part.hosts.size(), 2u);
  EXPECT_EQ(part.slots(), 5);
  EXPECT_EQ(part.name, whole.name);
  EXPECT_EQ(part.links.size(), whole.links.size());
  const Cluster alone = read_cluster(ClusterChoice{.hosts = "x:2,y:3"});
  EXPECT_EQ(alone.name, "x:2,y:3");
  EXPECT_TRUE(alone.links.empty());
  for (const ClusterChoice& bad :
       {ClusterChoice{}, ClusterChoice{.hosts = "a", .hostfile = "b"}, ClusterChoice{.hosts = "-a"},
        ClusterChoice{.hosts = "a:0"}, ClusterChoice{.hostfile = "nosuch"}}) {
    EXPECT_THROW(read_cluster(bad), UsageError) << bad.hosts;
  }
}

TEST(Cluster, OfTheProgramIsReadByItsName) {
  EXPECT_EQ(to_toml(read_cluster("2x2-10gbe")),
            to_toml(read_cluster(PACELINE_SOURCE_DIR "/clusters/2x2-10gbe.toml")));
  try {
    read_cluster("2x2-10gb");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("unknown cluster '2x2-10gb'; did you mean '2x2-10gbe'? Known: "))
        << error.what();
  }
}

TEST(Cluster, EveryPresetReads) {
  int presets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(PACELINE_SOURCE_DIR) / "clusters")) {
    SCOPED_TRACE(entry.path());
    const Cluster cluster = read_cluster(entry.path());
    EXPECT_NE(cluster.link(LinkScope::kHosts), nullptr);
    EXPECT_NE(cluster.link(LinkScope::kDevices), nullptr);
    EXPECT_FALSE(cluster.source.empty());
    EXPECT_NE(cluster.device.flops_per_s.has_value(), cluster.source.ends_with("not of a machine"));
    ++presets;
  }
  EXPECT_GE(presets, 8);
}

TEST(ClusterUnits, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_rate("r", "1Gbit"), 1.25e8);
  EXPECT_EQ(parse_rate("r", "100 Mbit/s"), 1.25e7);
  EXPECT_EQ(parse_rate("r", "2GiB/s"), 2.0 * (1 << 30));
  EXPECT_EQ(parse_duration_ps("d", "1.5ms"), 1'500'000'000);
  EXPECT_EQ(parse_bytes("b", "4KiB"), 4096);
  EXPECT_EQ(parse_bytes("b", "0B"), 0);
  for (const char* bad : {"", "Gbit", "1", "0Gbit", "nanGbit", "1Xbit"}) {
    EXPECT_THROW(parse_rate("r", bad), UsageError) << bad;
  }
  for (const char* bad : {"", "1", "-1us", "1m", "infs", "1e30s"}) {
    EXPECT_THROW(parse_duration_ps("d", bad), UsageError) << bad;
  }
}

/// A folder with a cluster file that names measured files.
class Collectives : public ::testing::Test {
 protected:
  Collectives() {
    std::string name = std::filesystem::temp_directory_path() / "paceline-cluster-XXXXXX";
    folder_ = mkdtemp(name.data());
    write("measured.toml", link("hosts", 4, 7));
  }
  ~Collectives() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  static std::string fit(int ranks, int alpha_us) {
    return fmt::format(
        "[[links.fits]]\noperation = \"all-reduce\"\nranks = {}\nengine = \"gloo\"\npieces = [{{ "
        "alpha = \"{}us\" }}]\n",
        ranks, alpha_us);
  }

  static std::string link(const std::string& joins, int ranks, int alpha_us) {
    return "[[hosts]]\nname = \"a\"\n[[links]]\nname = \"measured " + joins + "\"\njoins = \"" +
           joins + "\"\nrate = \"1GB/s\"\n" + fit(ranks, alpha_us);
  }

  Cluster read(const std::string& text) const {
    write("lab.toml", text);
    return read_cluster((folder_ / "lab.toml").string());
  }

  std::string rejection(const std::string& text) const {
    try {
      read(text);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
};

constexpr std::string_view kNetwork =
    "[[hosts]]\nname = \"n\"\n[[links]]\nname = \"net\"\nrate = "
    "\"10Gbit\"\n";

TEST_F(Collectives, MeasuredFitsReplaceTheSameAndLeaveTheLink) {
  const Cluster cluster =
      read("collectives = \"measured.toml\"\n" + std::string(kNetwork) + fit(2, 1) + fit(4, 2));
  ASSERT_EQ(cluster.links.size(), 1U);
  const ClusterLink& net = cluster.links[0];
  EXPECT_EQ(net.name, "net");
  EXPECT_EQ(net.bytes_per_s, 1.25e9);
  ASSERT_EQ(net.fits.size(), 2U);
  EXPECT_EQ(net.fits[0].ranks, 2);
  EXPECT_EQ(net.fits[1].ranks, 4);
  EXPECT_EQ(net.fits[1].line.pieces.at(0).alpha, plan::picoseconds_of(7e-6));
}

TEST_F(Collectives, AMeasuredLinkIsAddedWhereTheFileHasNone) {
  write("inside.toml", link("devices", 2, 3));
  const Cluster cluster =
      read("collectives = [\"measured.toml\", \"inside.toml\"]\n" + std::string(kNetwork));
  ASSERT_EQ(cluster.links.size(), 2U);
  EXPECT_EQ(cluster.links[0].fits.size(), 1U);
  EXPECT_EQ(cluster.links[1].name, "measured devices");
  EXPECT_EQ(cluster.links[1].fits.size(), 1U);
  EXPECT_EQ(cluster.hosts.size(), 1U);  // the file's own
}

TEST_F(Collectives, ABadFileIsNamedWithTheLineThatNamesIt) {
  const std::string lab = (folder_ / "lab.toml").string();
  const std::string other = (folder_ / "other.toml").string();
  const std::string text = "collectives = \"other.toml\"\n" + std::string(kNetwork);
  const std::string begin = lab + ":1: a cluster file collectives = 'other.toml': ";
  EXPECT_EQ(rejection(text), begin + "cannot read " + other + ": No such file or directory");
  write("other.toml", "[[hosts]\n");
  EXPECT_TRUE(rejection(text).starts_with(begin + other + ":1: not TOML: ")) << rejection(text);
  write("other.toml", "collectives = \"measured.toml\"\n");
  EXPECT_TRUE(
      rejection(text).starts_with(begin + other + ":1: unknown key of a file of collectives"))
      << rejection(text);
  EXPECT_EQ(rejection("collectives = 5\n" + std::string(kNetwork)),
            lab + ":1: a cluster file collectives = 5: must be text");
}

}  // namespace
}  // namespace paceline::cluster
