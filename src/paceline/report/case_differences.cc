// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/case_differences.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/case/field.h"
#include "paceline/case/json.h"
#include "paceline/case/same.h"
#include "paceline/records/json.h"

namespace paceline::report {
namespace {

using records::Source;

// Cases that differ in one of these do different work.
constexpr std::array<std::string_view, 8> kWork{"model",   "batch_size",      "image_size",
                                                "classes", "sequence_length", "as_original",
                                                "ranks",   "accumulate"};
// The keys that the JSON of PyTorch's benchmark has.
constexpr std::array<std::string_view, 6> kImported{"model",    "batch_size", "ranks",
                                                    "strategy", "bucket_mib", "engine"};

template <class Names>
bool has_name(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string text_of(const nlohmann::ordered_json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  return value.is_null() ? "-" : value.dump();
}

// Keys of instruments are there only where one is (case/field_table.cc).
std::string value_at(const ConfigurationFields& fields, const std::string& name) {
  const auto found = std::ranges::find(fields, name, &ConfigurationFields::value_type::first);
  return found == fields.end() ? "-" : found->second;
}

// An imported case has no options of its strategy ("ddp", "none"), so options are not compared.
bool same_imported_strategy(const std::string& a, const std::string& b) {
  return parts_beside(a, b) == 0U || parts_beside(b, a) == 0U;
}

bool is_imported(const Case& one) { return one.first().source == Source::kImported; }

// Whether the keys are equal that the head of a log of ours says too: the log has iterations in
// place of steps.
bool has_equal_fields(const Case& base, const Case& test) {
  const auto same_but = [&](cases::Fields but) {
    return cases::same_but(base.configuration(), test.configuration(), but);
  };
  return is_imported(base) || is_imported(test) ? same_but({&records::Configuration::steps})
                                                : same_but({});
}

// Whether the difference makes the work another.
bool is_work(const Difference& difference) { return has_name(kWork, difference.name); }

/// A case that another could be compared with.
struct Candidate {
  std::size_t place = 0;
  bool other_work = false;
  std::size_t distance = 0;  // those that do other work come last
  std::string why;           // it is no partner
};

// Of other work only what makes it other.
Candidate candidate_of(const Case& base, const Case& test) {
  constexpr std::size_t kOtherWork = 1'000'000;
  constexpr std::size_t kOneKeyOfWork = 1'000;
  std::vector<Difference> differences = differences_of(base, test);
  Candidate found;
  found.distance = differences.size();
  if (const auto count = std::ranges::count_if(differences, is_work)) {
    found.other_work = true;
    found.distance += kOtherWork + kOneKeyOfWork * static_cast<std::size_t>(count);
    std::erase_if(differences, std::not_fn(is_work));
  }
  const auto strategies = short_strategies({&base.configuration(), &test.configuration()});
  std::vector<std::string> texts;
  for (const Difference& difference : differences) {
    texts.push_back(text_of(difference.name == "strategy"
                                ? Difference{"strategy", strategies[0], strategies[1]}
                                : difference));
  }
  found.why = texts.empty() ? "no difference in what both sides say"
                            : fmt::format("{}", fmt::join(texts, ", "));
  return found;
}

}  // namespace

std::string text_of(const Difference& difference) {
  return fmt::format("{}: {} -> {}", difference.name, difference.base, difference.test);
}

ConfigurationFields fields_of(const records::Configuration& c) {
  ConfigurationFields fields;
  const nlohmann::ordered_json json = cases::to_json(c);
  for (const cases::Field& field : cases::fields()) {
    const std::string name(field.json_name());
    if (!field.in_key) {
      continue;
    }
    if (name == "env") {
      for (const auto& [variable, value] : c.env) {
        fields.emplace_back("env." + variable, value);
      }
    } else if (json.contains(name)) {
      fields.emplace_back(name, text_of(json.at(name)));
    } else if (field.of.part == cases::Part::kTables && c.has_tables()) {
      fields.emplace_back(name, read_key(field, c));  // as usual
    }
  }
  return fields;
}

std::vector<std::string> names_of(const ConfigurationFields& some,
                                  const ConfigurationFields& others) {
  std::vector<std::string> names;
  for (const ConfigurationFields* fields : {&some, &others}) {
    for (const auto& [name, value] : *fields) {
      add_once(names, name);
    }
  }
  return names;
}

std::vector<Difference> differences_of(const Case& base, const Case& test) {
  const bool imported = is_imported(base) || is_imported(test);
  const ConfigurationFields before = fields_of(base.configuration());
  const ConfigurationFields after = fields_of(test.configuration());
  std::vector<Difference> differences;
  for (const std::string& name : names_of(before, after)) {
    const std::string value = value_at(before, name);
    const std::string other = value_at(after, name);
    const bool unknown = !base.configuration().states(name) || !test.configuration().states(name);
    if (value == other || unknown || (imported && !has_name(kImported, name)) ||
        (imported && name == "strategy" && same_imported_strategy(value, other))) {
      continue;
    }
    differences.push_back({name, value, other});
  }
  if (base.first().source != test.first().source) {
    differences.push_back({"source", std::string(records::name_of(base.first().source)),
                           std::string(records::name_of(test.first().source))});
  }
  return differences;
}

std::optional<std::size_t> distance_of(const Case& base, const Case& test) {
  if (base.first().source == test.first().source &&
      cases::same_but(base.configuration(), test.configuration(), {})) {
    return 0;
  }
  const std::vector<Difference> differences = differences_of(base, test);
  if (std::ranges::any_of(differences, is_work)) {
    return std::nullopt;
  }
  return has_equal_fields(base, test) ? 1 : 2 + differences.size();
}

std::string nearest_text(const Case& one, const std::vector<Case>& others, bool is_base) {
  constexpr std::size_t kMost = 3;
  std::vector<Candidate> nearest;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const Case& base = is_base ? one : others[i];
    const Case& test = is_base ? others[i] : one;
    Candidate next = candidate_of(base, test);
    next.place = i;
    if (!nearest.empty() && next.distance < nearest.front().distance) {
      nearest.clear();
    }
    if (nearest.empty() || next.distance == nearest.front().distance) {
      nearest.push_back(std::move(next));
    }
  }
  if (nearest.empty()) {
    return "";
  }
  if (nearest.front().other_work) {
    nearest.resize(1);  // each of them says why there is no partner
  }
  const std::vector<std::string> labels = unique_labels(others);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(nearest.size(), kMost); ++i) {
    words.push_back(fmt::format("{} ({})", labels[nearest[i].place], nearest[i].why));
  }
  const std::size_t more = nearest.size() - words.size();
  return fmt::format("{}nearest in the {}: {}{}", nearest.size() == 1 ? "" : "equally ",
                     is_base ? "test" : "base", fmt::join(words, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace paceline::report
