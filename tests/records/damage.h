// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

// Seeded damage to a line of a record file, for tests of what reads one.

namespace paceline::records::damage {

using nlohmann::json;
using Random = std::mt19937_64;

inline std::size_t below(Random& random, std::size_t n) {
  return static_cast<std::size_t>(random() % n);
}

// Damage to the text.
inline std::string damage_text(std::string line, Random& random) {
  constexpr std::string_view kBytes = "\"{}[],:0e-\\\x01\xff\0nt ";
  switch (below(random, 5)) {
    case 0:
      line[below(random, line.size())] ^= static_cast<char>(1 << below(random, 8));
      break;
    case 1:
      line.resize(below(random, line.size()));
      break;
    case 2:
      line.erase(below(random, line.size()), 1 + below(random, 20));
      break;
    case 3:
      line.insert(below(random, line.size()), 1, kBytes[below(random, kBytes.size())]);
      break;
    default:
      line.insert(below(random, line.size()), line.substr(below(random, line.size()), 30));
  }
  return line;
}

// A random value inside `root`.
inline json& pick(json& root, Random& random) {
  json* place = &root;
  while (place->is_structured() && !place->empty() && below(random, 5) != 0) {
    auto next = place->begin();
    std::advance(next, static_cast<std::ptrdiff_t>(below(random, place->size())));
    place = &*next;
  }
  return *place;
}

// Damage that is still JSON: wrong types, extremes, keys gone or added.
inline std::string damage_values(const std::string& line, Random& random) {
  json record = json::parse(line);
  const std::vector<json> strangers{nullptr,
                                    true,
                                    -1,
                                    0,
                                    INT64_MAX,
                                    1e300,
                                    UINT64_MAX,
                                    INT64_MIN,
                                    2147483648,
                                    0.5,
                                    "",
                                    "\xEF\xBF\xBD",
                                    json::array(),
                                    json::object(),
                                    {1, "a"},
                                    {{"version", 1}}};
  json& place = pick(record, random);
  if (place.is_object() && !place.empty() && below(random, 2) == 0) {
    auto key = place.begin();
    std::advance(key, static_cast<std::ptrdiff_t>(below(random, place.size())));
    place.erase(key);
  } else if (place.is_object() && below(random, 2) == 0) {
    place["stranger"] = strangers[below(random, strangers.size())];
  } else {
    place = strangers[below(random, strangers.size())];
  }
  return record.dump();
}

}  // namespace paceline::records::damage
