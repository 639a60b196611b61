// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/listener.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "paceline/base/error.h"

namespace paceline::launch {
namespace {

TEST(Listener, listens_at_the_address_given_alone) {
  const auto listener = listen_at("127.0.0.2", 0);
  ASSERT_TRUE(listener.has_value());
  EXPECT_EQ(listener->address, "127.0.0.2");
  EXPECT_NE(listener->port, 0);
  EXPECT_EQ(reachable_address(listener->fd), "127.0.0.2");
  // The same port is free at every other address.
  const auto other = listen_at("127.0.0.3", listener->port);
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->port, listener->port);
  close(other->fd);
  close(listener->fd);
}

TEST(Listener, is_seen_while_it_listens) {
  const auto listener = listen_at("127.0.0.1", 0);
  ASSERT_TRUE(listener);
  EXPECT_EQ(is_listened_at("localhost", listener->port), true);
  close(listener->fd);
  EXPECT_EQ(is_listened_at("localhost", listener->port), false);
  EXPECT_EQ(is_listened_at("no.such.host.invalid", 1), std::nullopt);
}

TEST(Listener, a_taken_port_and_a_foreign_address_are_rejected) {
  const auto listener = listen_at("localhost", 0);
  ASSERT_TRUE(listener.has_value());
  EXPECT_EQ(listener->address, "127.0.0.1");
  try {
    listen_at("127.0.0.1", listener->port);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("is taken on this host"), std::string::npos)
        << error.what();
  }
  close(listener->fd);
  // TEST-NET-1 of RFC 5737 is nobody's.
  EXPECT_THROW(listen_at("192.0.2.1", 0), UsageError);
}

TEST(Token, is_another_one_every_time) {
  const std::string token = random_token();
  EXPECT_EQ(token.size(), 32U);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, random_token());
}

}  // namespace
}  // namespace paceline::launch
