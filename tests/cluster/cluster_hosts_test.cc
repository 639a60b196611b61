// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/cluster/cluster.h"

namespace paceline::cluster {
namespace {

std::string slots_of(const std::vector<ClusterHost>& hosts) {
  std::string text;
  for (const ClusterHost& host : hosts) {
    text += fmt::format("{}={} ", host.name, host.slots);
  }
  return text;
}

TEST(ClusterHosts, TakeEveryFormOfALine) {
  EXPECT_EQ(slots_of(parse_host_list("a:4,b,a:1")), "a=5 b=1 ");
  EXPECT_EQ(slots_of(parse_host_list("n[01-02,7]:4,b")), "n01=4 n02=4 n7=4 b=1 ");
  EXPECT_EQ(slots_of(parse_host_list("[fd00::7]:4,fd00::8,[::1]")), "fd00::7=4 fd00::8=1 ::1=1 ");
  for (const char* text : {"a:1:mlx5_0", "a,,b", "n[1-", "fd00::7:4", "a:x"}) {
    EXPECT_THROW(parse_host_list(text), UsageError) << text;
  }
}

std::string rejection_of(const char* list) {
  try {
    parse_host_list(list);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ClusterHosts, AreNotSeparatedBySpaces) {
  const auto expect_said = [](const char* list, const std::string& sentence) {
    EXPECT_NE(rejection_of(list).find(sentence), std::string::npos) << rejection_of(list);
  };
  expect_said("localhost slots=2", "'localhost slots=2' is not one host; hosts are ");
  expect_said("a slots = 2,b", "'a slots = 2' is not one host; hosts are ");
  expect_said("a b",
              "'a b' is not one host; hosts are separated by commas and written "
              "a:4,b:4");
}

TEST(ClusterHosts, TakeEveryFormOfAHostfile) {
  EXPECT_EQ(slots_of(parse_hostfile("n[01-02] slots=2\r\nb:3\n", "hosts")), "n01=2 n02=2 b=3 ");
  EXPECT_EQ(slots_of(parse_hostfile("a slots = 2 max_slots= 4 # x\n"
                                    "\tb\tslots =1\n",
                                    "hosts")),
            "a=2 b=1 ");
  EXPECT_EQ(slots_of(parse_hostfile("a:2:mlx5_0\n[fd00::7]:3\n", "hosts")), "a=2 fd00::7=3 ");
  for (const char* text : {"a slots\n", "a slots =\n", "a:1:\n", "a:1:b:c\n", "a 4\n"}) {
    EXPECT_THROW(parse_hostfile(text, "hosts"), UsageError) << text;
  }
}

}  // namespace
}  // namespace paceline::cluster
