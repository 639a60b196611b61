// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/legacy_names.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/case/field.h"

namespace paceline::cases {
namespace {

/// The key that has this name in other benchmarks or earlier versions, or null.
const Field* find_legacy_key(const std::string& name) {
  const auto found = std::ranges::find_if(keys(), [&](const Field& key) {
    return std::ranges::count(split_at(key.legacy, ' '), name) > 0;
  });
  return found == keys().end() || name.empty() ? nullptr : &*found;
}

std::string name_of(std::string_view flag) {
  std::string name(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())));
  std::ranges::replace(name, '-', '_');
  return name;
}

/// Returns at most two known flags that the user probably meant by `flag`: those that begin with
/// it, else those with the smallest edit distance.
std::vector<std::string> likely_flags(const std::string& flag,
                                      const std::vector<std::string>& known) {
  constexpr std::size_t kMost = 2;
  std::vector<std::string> longer;
  for (const std::string& name : known) {
    if (name.starts_with(flag) && flag.find_first_not_of('-') < flag.size()) {
      longer.push_back(name);
    }
  }
  std::vector<std::string> likely = longer.empty() ? nearest_names(flag, known) : longer;
  std::ranges::stable_sort(likely, {}, &std::string::size);
  likely.resize(std::min(likely.size(), kMost));
  return likely;
}

}  // namespace

std::string unknown_key_message(const std::string& name, bool with_tables) {
  std::vector<std::string> known;
  for (const Field& key : keys()) {
    if (key.in_file) {
      known.emplace_back(key.name);
    }
  }
  if (with_tables) {
    known.insert(known.end(), {"case", "sweep"});
  }
  const Field* key = find_legacy_key(name);
  return key == nullptr ? unknown_name_message("key", name, known)
                        : fmt::format("unknown key '{}'; here it is '{}'. Known: {}", name,
                                      key->name, fmt::join(known, ", "));
}

std::string unknown_flag_message(const std::string& flag, std::string_view command,
                                 const std::vector<std::string>& known) {
  const std::string name = name_of(flag);
  const Field* legacy = find_legacy_key(name);
  const Field* key = legacy == nullptr ? find_key(name) : legacy;
  const bool taken = key != nullptr && std::ranges::find(known, flag_of(*key)) != known.end();
  if (key != nullptr && !taken) {
    return fmt::format("'{}' is {}; paceline {} does not take it", flag,
                       legacy == nullptr ? "a flag of paceline run"
                                         : fmt::format("'{}' of paceline run", flag_of(*key)),
                       command);
  }
  const std::vector<std::string> likely = likely_flags(flag, known);
  const std::string meant = legacy != nullptr ? fmt::format("; here it is '{}'", flag_of(*legacy))
                            : likely.empty()
                                ? ""
                                : fmt::format("; did you mean '{}'?", fmt::join(likely, "' or '"));
  return fmt::format("unknown flag '{}'{}{} paceline {} --help lists all", flag, meant,
                     meant.ends_with('?') ? "" : ";", command);
}

}  // namespace paceline::cases
