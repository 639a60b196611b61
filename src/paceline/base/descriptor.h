// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <utility>

#include <unistd.h>

namespace paceline {

/// A file descriptor with one owner; -1: none.  The owner closes the descriptor and leaves errno
/// unchanged.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

  /// Returns the descriptor, which the caller must close.
  int release() { return std::exchange(number_, -1); }

  void close() {
    if (is_open()) {
      const int error = errno;
      ::close(release());
      errno = error;
    }
  }

 private:
  int number_;
};

}  // namespace paceline
