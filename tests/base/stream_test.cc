// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/stream.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

namespace paceline {
namespace {

using namespace std::chrono_literals;

// Interrupts every wait of the test's thread, as a stop and a go-on do.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction action {};
    action.sa_handler = [](int) {};  // without SA_RESTART
    sigaction(SIGUSR1, &action, &before_);
    thread_ = std::thread([this, victim = pthread_self()] {
      while (!done_) {
        pthread_kill(victim, SIGUSR1);
        std::this_thread::sleep_for(1ms);
      }
    });
  }
  ~Interruptions() {
    done_ = true;
    thread_.join();
    sigaction(SIGUSR1, &before_, nullptr);
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;

 private:
  struct sigaction before_ {};
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

TEST(Stream, SignalsDisturbNoReceiver) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  std::thread sender([&] {
    std::this_thread::sleep_for(150ms);
    EXPECT_EQ(send_within(ends[0], "word", 4, 10s), 4);
    close(ends[0]);
  });
  {
    const Interruptions interruptions;
    std::array<char, 8> got{};
    EXPECT_EQ(receive_within(ends[1], got.data(), got.size(), 10s), 4);
    EXPECT_EQ(std::string(got.data()), "word");
    EXPECT_EQ(receive_within(ends[1], got.data(), got.size(), 10s), 0);
  }
  sender.join();
  close(ends[1]);
}

TEST(Stream, SignalsDisturbNoSenderWhoseReceiverIsLate) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const std::string data(4 << 20, 'x');  // more than the socket holds
  std::size_t received = 0;
  std::thread receiver([&] {
    std::this_thread::sleep_for(150ms);
    std::string got(1 << 16, ' ');
    while (received < data.size()) {
      const ssize_t n = receive_within(ends[1], got.data(), got.size(), 10s);
      if (n <= 0) {
        return;
      }
      received += static_cast<std::size_t>(n);
    }
  });
  {
    const Interruptions interruptions;
    for (std::size_t sent = 0; sent < data.size();) {
      const ssize_t n = send_within(ends[0], data.data() + sent, data.size() - sent, 10s);
      ASSERT_GT(n, 0);
      sent += static_cast<std::size_t>(n);
    }
  }
  receiver.join();
  EXPECT_EQ(received, data.size());
  close(ends[0]);
  close(ends[1]);
}

TEST(Stream, PatienceEnds) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const Interruptions interruptions;
  char got = 0;
  EXPECT_EQ(receive_within(ends[0], &got, 1, 20ms), -1);
  EXPECT_EQ(errno, EAGAIN);
  close(ends[0]);
  close(ends[1]);
}

TEST(Stream, ConnectsAndAcceptsUnderSignals) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof own;
  auto* address = reinterpret_cast<sockaddr*>(&own);
  ASSERT_EQ(bind(listener, address, length), 0);
  ASSERT_EQ(getsockname(listener, address, &length), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  std::thread caller([&] {
    std::this_thread::sleep_for(150ms);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect_within(fd, address, length, 10s), 0);
    EXPECT_EQ(send_within(fd, "x", 1, 10s), 1);
    close(fd);
  });
  {
    const Interruptions interruptions;
    const int stream = accept_within(listener, 10s);
    ASSERT_GE(stream, 0);
    char got = 0;
    EXPECT_EQ(receive_within(stream, &got, 1, 10s), 1);
    close(stream);
  }
  caller.join();
  close(listener);
  const int late = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(connect_within(late, address, length, 10s), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
  close(late);
}

}  // namespace
}  // namespace paceline
