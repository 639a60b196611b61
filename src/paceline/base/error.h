// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace paceline {

/// The caller asked for something impossible.  The text names the option or key, the offending
/// value and the allowed values.  The program exits with 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The world of ranks, a device or the machine failed.  The text names the rank, the operation and
/// the time waited.  The program exits with 3.
class WorldError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A wait for other ranks took too long.  The cause is usually the failure of another rank, which
/// is reported instead if it is known.
class PeerTimeout : public WorldError {
 public:
  using WorldError::WorldError;
};

/// The exit codes with which the program ends after each of these errors.
inline constexpr int kUsageErrorStatus = 2;
inline constexpr int kWorldErrorStatus = 3;

namespace detail {
/// Prints a violated invariant with both values and aborts.
[[noreturn]] void check_failed(const char* file, int line, std::string_view expression,
                               const std::string& values);
}  // namespace detail

}  // namespace paceline

/// Checks an invariant, in Release too: a violation is a bug of Paceline, never a user's mistake.
#define PACELINE_CHECK(condition)                                           \
  do {                                                                      \
    if (!(condition)) {                                                     \
      ::paceline::detail::check_failed(__FILE__, __LINE__, #condition, ""); \
    }                                                                       \
  } while (false)

#define PACELINE_CHECK_EQ(left, right)                                                          \
  do {                                                                                          \
    const auto& paceline_left = (left);                                                         \
    const auto& paceline_right = (right);                                                       \
    if (!(paceline_left == paceline_right)) {                                                   \
      ::paceline::detail::check_failed(__FILE__, __LINE__, #left " == " #right,                 \
                                       fmt::format("{} vs {}", paceline_left, paceline_right)); \
    }                                                                                           \
  } while (false)
