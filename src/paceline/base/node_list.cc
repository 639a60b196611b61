// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/node_list.h"

#include <optional>

#include "paceline/base/error.h"
#include "paceline/base/text.h"

namespace paceline {
namespace {

// A list with more hosts than this is a typing error, not a cluster.
constexpr long kMostHosts = 100'000;

std::optional<long> number(std::string_view text) {
  const auto value = number_from<long>(text);
  return value.value_or(-1) < 0 ? std::nullopt : value;
}

[[noreturn]] void reject(std::string_view list, std::string_view part) {
  throw UsageError(fmt::format(
      "the node list '{}' cannot be read at '{}'; expected such as a,b[1-3]", list, part));
}

// Returns the numbers of "1-3", or "07" itself; leading zeros are kept.
std::vector<std::string> expand_range(std::string_view range, std::string_view list) {
  const auto dash = range.find('-');
  const auto low_text = range.substr(0, dash);
  const auto low = number(low_text);
  const auto high = dash == std::string_view::npos ? low : number(range.substr(dash + 1));
  if (!low || !high || *high < *low || *high - *low > kMostHosts) {
    reject(list, range);
  }
  std::vector<std::string> out;
  for (long value = *low; value <= *high; ++value) {
    out.push_back(fmt::format("{:0{}}", value, low_text.size()));
  }
  return out;
}

void expand_name(const std::string& before, std::string_view rest, std::string_view list,
                 std::vector<std::string>& out) {
  const auto open = rest.find('[');
  if (open == std::string_view::npos) {
    if (before.empty() && rest.empty()) {
      reject(list, rest);
    }
    if (out.size() >= static_cast<std::size_t>(kMostHosts)) {
      reject(list, before + std::string(rest));
    }
    out.push_back(before + std::string(rest));
    return;
  }
  // split_node_list() has already checked that brackets open and close in turn.
  const auto close = rest.find(']', open);
  const auto inside = rest.substr(open + 1, close - open - 1);
  const std::string start = before + std::string(rest.substr(0, open));
  for (const auto range : split_node_list(inside)) {
    for (const auto& value : expand_range(range, list)) {
      expand_name(start + value, rest.substr(close + 1), list, out);
    }
  }
}

}  // namespace

std::vector<std::string_view> split_node_list(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i == list.size() || (list[i] == ',' && depth == 0)) {
      parts.push_back(list.substr(begin, i - begin));
      begin = i + 1;
    } else if (list[i] == '[') {
      ++depth;
    } else if (list[i] == ']') {
      --depth;
    }
    if (depth < 0 || depth > 1) {
      reject(list, list.substr(i));
    }
  }
  if (depth != 0) {
    reject(list, list);
  }
  return parts;
}

std::vector<std::string> expand_node_list(std::string_view list) {
  std::vector<std::string> hosts;
  for (const auto part : split_node_list(list)) {
    expand_name("", part, list, hosts);
  }
  return hosts;
}

std::vector<int> expand_tasks_per_node(std::string_view list) {
  std::vector<int> counts;
  for (const auto part : split_node_list(list)) {
    const auto paren = part.find("(x");
    const auto tasks = number(part.substr(0, paren));
    std::optional<long> times = 1;
    if (paren != std::string_view::npos) {
      times = part.ends_with(')') ? number(part.substr(paren + 2, part.size() - paren - 3))
                                  : std::nullopt;
    }
    if (!tasks || *tasks > kMostHosts || !times ||
        *times + static_cast<long>(counts.size()) > kMostHosts) {
      reject(list, part);
    }
    counts.insert(counts.end(), static_cast<std::size_t>(*times), static_cast<int>(*tasks));
  }
  return counts;
}

}  // namespace paceline
