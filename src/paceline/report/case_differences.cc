// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/case_differences.h"

#include <algorithm>
#include <array>
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

// Keys that define the work of a case. Cases that differ in one of them are not compared.
constexpr std::array<std::string_view, 8> kWorkKeys{"model",   "batch_size",      "image_size",
                                                    "classes", "sequence_length", "as_original",
                                                    "ranks",   "accumulate"};
// The keys that the JSON of PyTorch's DDP benchmark has.
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

// Returns the text of a field. Returns "-" if the field is missing, as optional keys such as `link`
// are at their defaults.
std::string value_at(const ConfigurationFields& fields, const std::string& name) {
  const auto found = std::ranges::find(fields, name, &ConfigurationFields::value_type::first);
  return found == fields.end() ? "-" : found->second;
}

// Compares the strategies without their options, since an imported case states no options.
bool same_imported_strategy(const std::string& a, const std::string& b) {
  return names_strategy(a, b) || names_strategy(b, a);
}

bool is_imported(const CaseRecords& one) { return one.first().source == Source::kImported; }

// Whether two cases have equal keys. If one of them is imported, the number of steps is not
// compared, because imported logs may state iterations instead.
bool has_equal_fields(const CaseRecords& base, const CaseRecords& test) {
  const auto equal_except = [&](cases::Fields but) {
    return cases::equal_except(base.configuration(), test.configuration(), but);
  };
  return is_imported(base) || is_imported(test) ? equal_except({&cases::Case::steps})
                                                : equal_except({});
}

// Whether cases with this difference do different work.
bool changes_work(const Difference& difference) { return has_name(kWorkKeys, difference.name); }

}  // namespace

std::string text_of(const Difference& difference) {
  return fmt::format("{}: {} -> {}", difference.name, difference.base, difference.test);
}

ConfigurationFields fields_of(const cases::Case& c) {
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
      fields.emplace_back(name, read_key(field, c));  // absent from the JSON: the default
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

std::vector<Difference> differences_of(const CaseRecords& base, const CaseRecords& test) {
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

std::optional<std::size_t> distance_of(const CaseRecords& base, const CaseRecords& test) {
  if (base.first().source == test.first().source &&
      cases::equal_except(base.configuration(), test.configuration(), {})) {
    return 0;
  }
  const std::vector<Difference> differences = differences_of(base, test);
  if (std::ranges::any_of(differences, changes_work)) {
    return std::nullopt;
  }
  return has_equal_fields(base, test) ? 1 : 2 + differences.size();
}

std::string differing_keys_text(const std::vector<CaseRecords>& base,
                                const std::vector<CaseRecords>& test) {
  std::vector<std::string> keys;
  for (const CaseRecords& one : base) {
    for (const CaseRecords& other : test) {
      for (const Difference& difference : differences_of(one, other)) {
        add_once(keys, difference.name);
      }
    }
  }
  return keys.empty() ? ""
                      : fmt::format(
                            "; they differ in {}: --base KEY=VALUE and --test KEY=VALUE "
                            "choose among cases of the same work",
                            fmt::join(keys, ", "));
}

}  // namespace paceline::report
