// SPDX-License-Identifier: Apache-2.0
// Holds every frame between pairs of network interfaces for a fixed time: the latency of a link,
// for kernels without netem.  Sees the interfaces of its
// own network namespace, so CAP_NET_RAW there is enough.
//
//   netlab-delay NANOSECONDS IF_A IF_B [IF_A IF_B ...]
//
// Says "ready" when frames pass; exits with 77 where it may not have them.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <memory>
#include <vector>

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

// A frame that the kernel has not cut to the wire's size yet is up to 64 KiB, with a header that
// says how to cut it.
constexpr std::size_t kLargestFrame = 70'000;
constexpr int kSocketBuffer = 32 << 20;
constexpr int kFramesAtOnce = 64;
constexpr int kNotPossibleHere = 77;

[[noreturn]] void die(const char* what, const char* name, int code = 1) {
  std::fprintf(stderr, "netlab-delay: %s %s: %s\n", what, name, std::strerror(errno));
  std::exit(code);
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void set(int fd, int level, int option, int value, const char* name) {
  if (setsockopt(fd, level, option, &value, sizeof value) != 0) {
    die("socket option of", name);
  }
}

int open_interface(const char* name) {
  const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
  if (fd < 0) {
    die("raw socket for", name, kNotPossibleHere);
  }
  set(fd, SOL_PACKET, PACKET_VNET_HDR, 1, name);
  set(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, name);
  // Larger than the system's limit only for root; else as large as allowed.
  for (const int option : {SO_RCVBUFFORCE, SO_SNDBUFFORCE}) {
    if (setsockopt(fd, SOL_SOCKET, option, &kSocketBuffer, sizeof kSocketBuffer) != 0) {
      const int plain = option == SO_RCVBUFFORCE ? SO_RCVBUF : SO_SNDBUF;
      set(fd, SOL_SOCKET, plain, kSocketBuffer, name);
    }
  }
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(name));
  if (address.sll_ifindex == 0 ||
      bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    die("interface", name);
  }
  packet_mreq all{};
  all.mr_ifindex = address.sll_ifindex;
  all.mr_type = PACKET_MR_PROMISC;
  if (setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all) != 0) {
    die("promiscuous mode of", name);
  }
  return fd;
}

struct Frame {
  std::int64_t due_ns = 0;
  std::size_t length = 0;
  std::unique_ptr<char[]> bytes;
};

// One direction: what comes in at one interface leaves at the other, later.
class Direction {
 public:
  Direction(int in, int out, std::int64_t delay_ns) : in_(in), out_(out), delay_ns_(delay_ns) {}

  int in() const { return in_; }

  void receive() {
    for (int i = 0; i < kFramesAtOnce; ++i) {
      auto bytes = take_buffer();
      const ssize_t length = recv(in_, bytes.get(), kLargestFrame, MSG_DONTWAIT);
      if (length <= 0) {
        spare_.push_back(std::move(bytes));
        return;
      }
      waiting_.push_back(
          {now_ns() + delay_ns_, static_cast<std::size_t>(length), std::move(bytes)});
    }
  }

  // A full interface drops the frame, as a switch does.
  void send_due() {
    while (!waiting_.empty() && waiting_.front().due_ns <= now_ns()) {
      Frame& frame = waiting_.front();
      if (send(out_, frame.bytes.get(), frame.length, MSG_DONTWAIT) < 0 && ++dropped_ == 1) {
        std::fprintf(stderr, "netlab-delay: a frame of %zu bytes is lost: %s\n", frame.length,
                     std::strerror(errno));
      }
      spare_.push_back(std::move(frame.bytes));
      waiting_.pop_front();
    }
  }

  // Nanoseconds until the next frame is due; negative: none waits.
  std::int64_t patience() const {
    return waiting_.empty() ? -1 : std::max<std::int64_t>(0, waiting_.front().due_ns - now_ns());
  }

 private:
  std::unique_ptr<char[]> take_buffer() {
    if (spare_.empty()) {
      return std::make_unique<char[]>(kLargestFrame);
    }
    auto buffer = std::move(spare_.back());
    spare_.pop_back();
    return buffer;
  }

  int in_, out_;
  std::int64_t delay_ns_;
  std::deque<Frame> waiting_;
  std::vector<std::unique_ptr<char[]>> spare_;
  std::int64_t dropped_ = 0;
};

[[noreturn]] void forward(std::deque<Direction>& directions) {
  std::vector<pollfd> ready;
  for (const Direction& one : directions) {
    ready.push_back({.fd = one.in(), .events = POLLIN, .revents = 0});
  }
  while (true) {
    std::int64_t patience = -1;
    for (Direction& one : directions) {
      one.send_due();
      const std::int64_t next = one.patience();
      if (next >= 0 && (patience < 0 || next < patience)) {
        patience = next;
      }
    }
    const timespec limit{.tv_sec = patience / 1'000'000'000, .tv_nsec = patience % 1'000'000'000};
    ppoll(ready.data(), ready.size(), patience < 0 ? nullptr : &limit, nullptr);
    for (std::size_t i = 0; i < directions.size(); ++i) {
      if (ready[i].revents != 0) {
        directions[i].receive();
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0) {
    std::fprintf(stderr, "usage: netlab-delay NANOSECONDS IF_A IF_B ...\n");
    return 2;
  }
  char* end = nullptr;
  const long delay_ns = std::strtol(argv[1], &end, 10);
  if (*end != '\0' || delay_ns < 0) {
    std::fprintf(stderr, "netlab-delay: '%s' is not a number of nanoseconds\n", argv[1]);
    return 2;
  }
  std::deque<Direction> directions;
  for (int i = 2; i < argc; i += 2) {
    const int a = open_interface(argv[i]);
    const int b = open_interface(argv[i + 1]);
    directions.emplace_back(a, b, delay_ns);
    directions.emplace_back(b, a, delay_ns);
  }
  std::puts("ready");
  std::fflush(stdout);
  forward(directions);
}
