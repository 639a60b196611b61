// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/failure.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>

namespace paceline::engines {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

constexpr std::array kPeerLost{"connection reset",
                               "closed by peer",
                               "broken pipe",
                               "connection closed",
                               "socket closed",
                               "connection refused",
                               "failed to recv",
                               "remote error",
                               "connection was closed",
                               "application timeout caused pair closure",
                               "connection to a peer lost"};
constexpr std::array kTimeout{"timed out", "timeout", "no answer from a peer"};

template <class Needles>
const char* first_phrase_in(const std::string& text, const Needles& needles) {
  for (const auto* needle : needles) {
    if (text.find(needle) != std::string::npos) {
      return needle;
    }
  }
  return nullptr;
}

// Returns the text without the engine's "[file:line] " and without Gloo's debugging advice.
std::string without_debug_advice(const std::string& text) {
  static const std::regex place(R"(\[/[^\]]*:[0-9]+\] )");
  const std::string shorter = std::regex_replace(text, place, "");
  return shorter.substr(0, shorter.find(". This is typically caused by"));
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

FailureKind classify_failure(std::string_view text) {
  const auto low = lower(text);
  if (first_phrase_in(low, kPeerLost)) {
    return FailureKind::kPeerLost;
  }
  if (first_phrase_in(low, kTimeout)) {
    return FailureKind::kTimeout;
  }
  return FailureKind::kOther;
}

std::string describe_failure(const std::exception& error, std::string_view operation) {
  if (dynamic_cast<const UsageError*>(&error)) {
    return error.what();
  }
  if (dynamic_cast<const WorldError*>(&error)) {
    return without_debug_advice(error.what());
  }
  const std::string text = without_debug_advice(first_line(error.what()));
  switch (classify_failure(error.what())) {
    case FailureKind::kPeerLost:
      return fmt::format("{}: connection to a peer lost ({})", operation, text);
    case FailureKind::kTimeout:
      return fmt::format("{}: no answer from a peer ({})", operation, text);
    case FailureKind::kOther:
      break;
  }
  return fmt::format("{}: {}", operation, text);
}

void rethrow_as_world_error(std::string_view operation) {
  try {
    throw;
  } catch (const WorldError&) {
    throw;
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    throw WorldError(describe_failure(error, operation));
  }
}

}  // namespace paceline::engines
