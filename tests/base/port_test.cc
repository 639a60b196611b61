// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paceline/base/stream.h"

namespace paceline {
namespace {

TEST(FreePort, CanBeBoundAtOnce) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(free_port());
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_NE(address.sin_port, 0);
  EXPECT_EQ(bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  close(descriptor);
}

}  // namespace
}  // namespace paceline
