// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/message_of.h"
#include "paceline/cluster/cluster.h"

namespace paceline::cluster {
namespace {

constexpr auto kTwoLinks = R"(
[[hosts]]
name = "a"
[[links]]
joins = "hosts"
rate = "1GB/s"
[[links]]
joins = "devices"
rate = "9GB/s"
)";

TEST(ClusterCalibration, IsReadAsItIsWritten) {
  Cluster cluster = parse_cluster(kTwoLinks, "c.toml");
  cluster.links[0].calibration = LinkCalibration{.engine = "nccl",
                                                 .share = 0.75,
                                                 .base_ps = 9'500'000,
                                                 .hop_ps = 1'250'000,
                                                 .error_percent = 6.5,
                                                 .doubling_percent = 12.5,
                                                 .from_bytes = 1024,
                                                 .to_bytes = std::int64_t{1} << 34,
                                                 .ranks = {8, 16}};
  const Cluster again = parse_cluster(to_toml(cluster), "d.toml");
  ASSERT_TRUE(again.links[0].calibration);
  const LinkCalibration& found = *again.links[0].calibration;
  EXPECT_EQ(found.engine, "nccl");
  EXPECT_EQ(found.share, 0.75);
  EXPECT_EQ(found.base_ps, 9'500'000);
  EXPECT_EQ(found.hop_ps, 1'250'000);
  EXPECT_EQ(found.error_percent, 6.5);
  EXPECT_EQ(found.doubling_percent, 12.5);
  EXPECT_EQ(found.from_bytes, 1024);
  EXPECT_EQ(found.to_bytes, std::int64_t{1} << 34);
  EXPECT_EQ(found.ranks, (std::vector<int>{8, 16}));
  EXPECT_FALSE(again.links[1].calibration);
}

TEST(ClusterCalibration, RejectsWhatNoLinkCanHave) {
  const auto with = [](const std::string& lines) {
    return message_of(
        "[[hosts]]\nname = 'a'\n[[links]]\nrate = '1GB/s'\n[links.calibration]\n"
        "engine = 'nccl'\nfrom_bytes = 8\nto_bytes = 64\n" +
        lines);
  };
  EXPECT_EQ(with("ranks = [8]\n"), "no error");
  EXPECT_EQ(with("ranks = [8]\nshare = 1.25\n"),
            "c.toml:10: [calibration] share = 1.25: must be above 0 and at most 1");
  EXPECT_EQ(with("ranks = [8]\nshare = 0\n"),
            "c.toml:10: [calibration] share = 0: must be above 0 and at most 1");
  EXPECT_EQ(with("ranks = [8]\nhop = '-2us'\n"),
            "c.toml:10: [calibration] hop = '-2us': must be a duration, not negative, in ps, ns, "
            "us, ms or s, like 50us");
  EXPECT_EQ(with("ranks = [8]\nbase = '-2us'\n"),
            "c.toml:10: [calibration] base = '-2us': must be a duration, not negative, in ps, ns, "
            "us, ms or s, like 50us");
  EXPECT_EQ(with("ranks = [1]\n"),
            "c.toml:5: ranks = [1]; it needs numbers of ranks, each at least 2");
  EXPECT_EQ(with("ranks = [8]\nlatency = '2us'\n").find("c.toml:10: unknown key of [calibration]"),
            0U);
}

}  // namespace
}  // namespace paceline::cluster
