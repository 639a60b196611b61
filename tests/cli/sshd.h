// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paceline/base/clock.h"

namespace paceline::testing {

/// An sshd of our own on the loopback, with keys that lie in `folder` and let this user in alone,
/// and a client's command that reaches it as any host.
class Sshd {
 public:
  /// Remote commands have `assignment` in their environment.
  Sshd(const std::filesystem::path& folder, const std::string& assignment)
      : folder_(folder / "sshd"), port_(free_port()) {
    std::filesystem::create_directory(folder_);
    if (geteuid() == 0) {
      std::filesystem::create_directories("/run/sshd");  // it asks for it
    }
    make_key("host_key");
    make_key("client_key");
    write("sshd_config",
          "Port " + port_ + "\nListenAddress 127.0.0.1\nHostKey " + at("host_key") +
              "\nAuthorizedKeysFile " + at("client_key.pub") +
              "\nPidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nSetEnv " +
              assignment + "\n");
    write("known_hosts", "[127.0.0.1]:" + port_ + " " + text("host_key.pub"));
    write("ssh_config", "HostName 127.0.0.1\nPort " + port_ + "\nIdentityFile " + at("client_key") +
                            "\nIdentitiesOnly yes\nUserKnownHostsFile " + at("known_hosts") +
                            "\nGlobalKnownHostsFile /dev/null\nStrictHostKeyChecking yes\n");
    start();
  }
  ~Sshd() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  Sshd(const Sshd&) = delete;
  Sshd& operator=(const Sshd&) = delete;

  /// Words for a shell, before ssh's own options and the host.
  std::string client() const { return "/usr/bin/ssh -F '" + at("ssh_config") + "'"; }

  void forget_host_key() const { write("known_hosts", ""); }

 private:
  static std::string free_port() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    bind(fd, generic, length);
    getsockname(fd, generic, &length);
    close(fd);
    return std::to_string(ntohs(address.sin_port));
  }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  std::string text(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void make_key(const std::string& name) const {
    const std::string line = "ssh-keygen -q -t ed25519 -N '' -f '" + at(name) + "' </dev/null";
    if (std::system(line.c_str()) != 0) {
      throw std::runtime_error("ssh-keygen makes no key");
    }
  }

  // With nothing of our environment, which is not a remote host's.
  void start() {
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      char path[] = "PATH=/usr/bin:/bin:/usr/sbin:/sbin";
      char* environment[] = {path, nullptr};
      execle(PACELINE_SSHD, PACELINE_SSHD, "-D", "-f", at("sshd_config").c_str(), "-E",
             at("log").c_str(), nullptr, environment);
      _exit(127);
    }
    const auto deadline = steady_now() + std::chrono::seconds(10);
    while (text("log").find("Server listening") == std::string::npos) {
      if (steady_now() > deadline) {
        throw std::runtime_error("sshd does not start: " + text("log"));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  std::filesystem::path folder_;
  std::string port_;
  pid_t pid_ = -1;
};

}  // namespace paceline::testing
