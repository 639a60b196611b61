// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/host_text.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline {
namespace {

std::pair<std::string, std::string> parts(std::string_view text) {
  const HostText split = split_host(text);
  return {std::string(split.host), std::string(split.after.value_or("nothing"))};
}

using Split = std::pair<std::string, std::string>;

TEST(HostText, SplitsAtTheColonBehindTheHost) {
  EXPECT_EQ(parts("a"), Split("a", "nothing"));
  EXPECT_EQ(parts("a:4"), Split("a", "4"));
  EXPECT_EQ(parts("a:4:mlx5_0"), Split("a", "4:mlx5_0"));
  EXPECT_EQ(parts("n[1-3]:4"), Split("n[1-3]", "4"));
  EXPECT_EQ(parts(":4"), Split("", "4"));
}

TEST(HostText, KnowsAddressesWithColons) {
  EXPECT_EQ(parts("::1"), Split("::1", "nothing"));
  EXPECT_EQ(parts("fd00::7"), Split("fd00::7", "nothing"));
  EXPECT_EQ(parts("[fd00::7]"), Split("fd00::7", "nothing"));
  EXPECT_EQ(parts("[fd00::7]:4"), Split("fd00::7", "4"));
  EXPECT_EQ(parts("[fe80::1%eth0]:4"), Split("fe80::1%eth0", "4"));
  EXPECT_EQ(without_brackets("[::1]"), "::1");
  EXPECT_EQ(without_brackets("n[1-3]"), "n[1-3]");
}

TEST(HostText, RejectsWhatCanBeReadInTwoWays) {
  for (const char* text : {"fd00::7:4", "[fd00:7]:4", "[fd00::7]4"}) {
    EXPECT_THROW(split_host(text), UsageError) << text;
  }
}

TEST(HostText, ReadsAndWritesHostsWithPorts) {
  const auto address = host_port_from("[fd00::7]:4000");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->host, "fd00::7");
  EXPECT_EQ(address->port, 4000);
  EXPECT_EQ(host_port_text(address->host, address->port), "[fd00::7]:4000");
  EXPECT_EQ(host_port_text("a", 1), "a:1");
  for (const char* text : {"a", "a:", "a:0", "a:65536", ":7", "a:x", "::1"}) {
    EXPECT_FALSE(host_port_from(text)) << text;
  }
}

}  // namespace
}  // namespace paceline
