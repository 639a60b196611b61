// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/cluster_edit.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::plan {
namespace {

constexpr const char* kText = R"(# our lab
name = "lab"   # two machines

[[hosts]]
name = "n"
count = 2

[[links]]
name = "net"   # the switch
joins = "hosts"
rate = "1Gbit"

[[links.fits]]          # old
operation = "all-reduce"
ranks = 2
pieces = [
  { alpha = "1us", beta_ps_per_byte = 5 },
]

# of the vendor
[[links.fits]]
operation = "broadcast"
ranks = 2
pieces = [{ alpha = "2us", beta_ps_per_byte = 6 }]

# the machines' own
[[links]]
joins = "devices"
rate = "2GB/s"

[device]
name = "CPU"   # shared
)";

LinkFit fit(const std::string& operation, Picoseconds alpha) {
  return {.operation = operation,
          .ranks = 2,
          .line = {{{.from_bytes = 0, .alpha = alpha, .beta_ps_per_byte = 7},
                    {.from_bytes = 4096, .alpha = 9, .beta_ps_per_byte = 8}}},
          .error_percent = 1.5};
}

TEST(ClusterEdit, ReplacesTheFitAndLeavesEveryOtherLineAlone) {
  const std::string out =
      with_fits(kText, "net", {fit("all-reduce", 123)}, "lab.toml");
  const Cluster cluster = parse_cluster(out, "lab.toml");
  const auto& fits = cluster.links.at(0).fits;
  ASSERT_EQ(fits.size(), 2U);
  EXPECT_EQ(fits[0].operation, "broadcast");
  EXPECT_EQ(fits[1].operation, "all-reduce");
  EXPECT_EQ(fits[1].line.pieces.at(0).alpha, 123);
  EXPECT_EQ(fits[1].line.pieces.at(1).from_bytes, 4096);
  EXPECT_EQ(fits[1].error_percent, 1.5);
  EXPECT_TRUE(cluster.links.at(1).fits.empty());
  for (const char* line :
       {"# our lab\nname = \"lab\"   # two machines\n",
        "name = \"net\"   # the switch\n",
        "# of the vendor\n[[links.fits]]\noperation = \"broadcast\"",
        "\n# the machines' own\n[[links]]\njoins = \"devices\"",
        "[device]\nname = \"CPU\"   # shared\n"}) {
    EXPECT_NE(out.find(line), std::string::npos) << line << "\nin\n" << out;
  }
  EXPECT_EQ(out.find("# old"), std::string::npos);
}

TEST(ClusterEdit, WritingTheSameTwiceChangesNothing) {
  const std::vector<LinkFit> fits{fit("message", 5), fit("all-gather", 6)};
  const std::string once = with_fits(kText, "net", fits, "lab.toml");
  EXPECT_EQ(with_fits(once, "net", fits, "lab.toml"), once);
}

TEST(ClusterEdit, FitsGoToTheLinkThatIsNamed) {
  const std::string out =
      with_fits(kText, "devices", {fit("message", 5)}, "lab.toml");
  const Cluster cluster = parse_cluster(out, "lab.toml");
  EXPECT_EQ(cluster.links.at(0).fits.size(), 2U);
  EXPECT_EQ(cluster.links.at(1).fits.size(), 1U);
}

TEST(ClusterEdit, AnotherNumberOfRanksIsAnotherFit) {
  LinkFit four = fit("all-reduce", 5);
  four.ranks = 4;
  const std::string out = with_fits(kText, "net", {four}, "lab.toml");
  EXPECT_EQ(parse_cluster(out, "lab.toml").links.at(0).fits.size(), 3U);
}

// The file's fits do not say their engine, so what is measured takes their
// place; what another engine measured stays beside it.
TEST(ClusterEdit, AnotherEngineIsAnotherFit) {
  LinkFit gloo = fit("all-reduce", 5);
  gloo.engine = "gloo";
  gloo.device = "cpu";
  LinkFit nccl = fit("all-reduce", 6);
  nccl.engine = "nccl";
  nccl.device = "cuda";
  std::string out = with_fits(kText, "net", {gloo}, "lab.toml");
  EXPECT_EQ(parse_cluster(out, "lab.toml").links.at(0).fits.size(), 2U);
  out = with_fits(out, "net", {nccl}, "lab.toml");
  const auto fits = parse_cluster(out, "lab.toml").links.at(0).fits;
  ASSERT_EQ(fits.size(), 3U);
  EXPECT_EQ(fits[1].engine, "gloo");
  EXPECT_EQ(fits[1].device, "cpu");
  EXPECT_EQ(fits[2].engine, "nccl");
  EXPECT_EQ(fits[2].device, "cuda");
  EXPECT_EQ(with_fits(out, "net", {nccl}, "lab.toml"), out);
}

TEST(ClusterEdit, RefusesWhatItCannotEdit) {
  EXPECT_THROW(with_fits(kText, "nett", {fit("message", 5)}, "lab.toml"),
               UsageError);
  const std::string inline_fits =
      "[[hosts]]\nname = \"a\"\n[[links]]\nname = \"net\"\nrate = \"1Gbit\"\n"
      "fits = [{operation = \"message\", ranks = 2, pieces = [{alpha = "
      "\"1us\"}]}]\n";
  EXPECT_THROW(with_fits(inline_fits, "net", {fit("message", 5)}, "lab.toml"),
               UsageError);
  EXPECT_THROW(with_fits(inline_fits, "net", {}, "lab.toml"), UsageError);
  EXPECT_EQ(with_fits(kText, "net", {}, "lab.toml"), kText);
}

TEST(ClusterEdit, AnotherPlacementIsAnotherFit) {
  LinkFit spread = fit("all-reduce", 5);
  spread.ranks_per_host = {1, 1};
  std::string out = with_fits(kText, "net", {spread}, "lab.toml");
  auto fits = parse_cluster(out, "lab.toml").links.at(0).fits;
  ASSERT_EQ(fits.size(), 2U);  // the file's said nothing of hosts
  EXPECT_EQ(fits[1].ranks_per_host, (std::vector<int>{1, 1}));
  LinkFit packed = fit("all-reduce", 6);
  packed.ranks_per_host = {2};
  out = with_fits(out, "net", {packed}, "lab.toml");
  fits = parse_cluster(out, "lab.toml").links.at(0).fits;
  ASSERT_EQ(fits.size(), 3U);
  EXPECT_EQ(fits[2].ranks_per_host, std::vector<int>{2});
}

TEST(ClusterEdit, ABracketInACommentIsNoHeader) {
  std::string text = kText;
  text.replace(text.find("[[links]]\nname"), 9, "[[ links ]]  # see [1]");
  text.replace(text.find("[[links.fits]]          # old"),
               29,
               "[[links.fits]]  # old [2], of {a}");
  const std::string out =
      with_fits(text, "net", {fit("all-reduce", 123)}, "lab.toml");
  EXPECT_EQ(parse_cluster(out, "lab.toml").links.at(0).fits.size(), 2U);
  EXPECT_NE(out.find("[[ links ]]  # see [1]\n"), std::string::npos) << out;
  EXPECT_EQ(out.find("# old [2]"), std::string::npos) << out;
}

std::string with_crlf(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '\n' ? "\r\n" : std::string(1, c);
  }
  return out;
}

TEST(ClusterEdit, LineEndsAreTheFilesOwn) {
  const std::vector<LinkFit> fits{fit("all-reduce", 5)};
  EXPECT_EQ(with_fits(with_crlf(kText), "net", fits, "lab.toml"),
            with_crlf(with_fits(kText, "net", fits, "lab.toml")));
  const ClusterLink link{.name = "l", .bytes_per_s = 1e9, .fits = fits};
  const std::string hosts = "[[hosts]]\nname = \"a\"\n";
  EXPECT_EQ(with_link(with_crlf(hosts), link),
            with_crlf(with_link(hosts, link)));
}

TEST(ClusterEdit, ALatencyThatNobodyKnowsIsLeftOut) {
  const ClusterLink link{.name = "l", .bytes_per_s = 1e9, .fits = {}};
  const std::string text = with_link("[[hosts]]\nname = \"a\"", link);
  EXPECT_EQ(text.find("latency"), std::string::npos) << text;
  EXPECT_EQ(parse_cluster(text, "lab.toml").links.at(0).latency_ps, 0);
}

TEST(ClusterEdit, ALinkWrittenAsTextIsTheLink) {
  ClusterLink link{.name = "loopback",
                   .scope = LinkScope::kDevices,
                   .sharing = LinkSharing::kHost,
                   .bytes_per_s = 2e9,
                   .latency_ps = 7'000'000,
                   .full_duplex = true,
                   .fits = {fit("message", 5)}};
  const Cluster cluster = parse_cluster(
      with_link("[[hosts]]\nname = \"a\"\nslots = 2\n", link), "lab.toml");
  ASSERT_EQ(cluster.links.size(), 1U);
  EXPECT_EQ(cluster.links[0].scope, LinkScope::kDevices);
  EXPECT_EQ(cluster.links[0].bytes_per_s, 2e9);
  EXPECT_EQ(cluster.links[0].latency_ps, 7'000'000);
  EXPECT_EQ(cluster.links[0].fits.at(0).line.pieces.size(), 2U);
}

}  // namespace
}  // namespace paceline::plan
