// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/text.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline {
namespace {

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

}  // namespace

std::vector<std::string> split_at(std::string_view text, char mark) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(mark);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table of distances between prefixes suffice.
  std::vector<std::size_t> two_up(b.size() + 1);
  std::vector<std::size_t> up(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(up.begin(), up.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two_up[j - 2] + 1);
      }
    }
    two_up.swap(up);
    up.swap(row);
  }
  return up[b.size()];
}

std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> known) {
  std::vector<std::string> nearest;
  std::size_t least = std::string::npos;
  const std::string lower = in_lower_case(name);
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(lower, in_lower_case(candidate));
    if (distance > std::max<std::size_t>(1, candidate.size() / 3) || distance > least) {
      continue;
    }
    if (distance < least) {
      nearest.clear();
      least = distance;
    }
    nearest.push_back(candidate);
  }
  return nearest;
}

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known) {
  const auto nearest = nearest_names(name, known);
  return nearest.empty() ? std::nullopt : std::optional(nearest.front());
}

std::string unknown_name_message(std::string_view kind, std::string_view name,
                                 std::span<const std::string> known) {
  const auto nearest = nearest_name(name, known);
  return fmt::format("unknown {} '{}'{} Known: {}", kind, name,
                     nearest ? fmt::format("; did you mean '{}'?", *nearest) : std::string("."),
                     fmt::join(known, ", "));
}

std::string counted(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 120;
  std::string out;
  for (const char c : text.substr(0, kLongest)) {
    out += c >= ' ' && c <= '~' ? c : '?';
  }
  return text.size() > kLongest ? out + "..." : out;
}

// If JSON lacks a key, or has a value of another type, the text says so instead of "not JSON".
std::string not_json_message(std::string_view text, std::string_view said) {
  const auto open = said.find("] ");
  const std::string_view plain = open == std::string_view::npos ? said : said.substr(open + 2);
  if (said.starts_with("[json.exception.out_of_range.403]")) {
    const auto from = plain.find('\'');
    const auto to = plain.rfind('\'');
    return fmt::format("key {} is missing", shown(plain.substr(from, to - from + 1)));
  }
  if (said.starts_with("[json.exception.type_error")) {
    return "a value is not of the type that its key has";
  }
  const bool lines = trimmed(text).find('\n') != std::string_view::npos;
  const auto where = said.find(lines ? "line " : "column ");
  return fmt::format("not JSON: {}",
                     shown(where == std::string_view::npos ? said : said.substr(where)));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace paceline
