// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/json.h"

#include <concepts>
#include <limits>
#include <map>
#include <set>

namespace paceline::cases {
namespace {

using nlohmann::ordered_json;

/// Visitor that reads a JSON value as the type of the alternative that it visits.
struct JsonValueReader {
  const Field& field;
  const JsonNode& place;

  Value operator()(const std::string& /*usual*/) const { return place.text(); }
  Value operator()(bool /*usual*/) const { return place.boolean(); }
  Value operator()(double /*usual*/) const { return place.number(); }
  Value operator()(const std::vector<int>& /*usual*/) const {
    std::vector<int> numbers;
    place.each([&](const JsonNode& item) { numbers.push_back(integer<int>(item, 0)); });
    return numbers;
  }
  Value operator()(const Variables& /*usual*/) const {
    place.check_object();
    Variables variables;
    for (const auto& [name, item] : place.value.items()) {
      variables[name] = JsonNode{item, &place, name}.text();
    }
    return variables;
  }
  template <std::integral T>
  Value operator()(T /*usual*/) const {
    return integer<T>(place, field.json.minimum);
  }

 private:
  template <std::integral T>
  static T integer(const JsonNode& at, int least) {
    return static_cast<T>(
        at.integer(static_cast<std::uint64_t>(least), std::numeric_limits<T>::max()));
  }
};

/// The keys that older records have in place of `as_original`, with the values that mean true.
const std::map<std::string_view, nlohmann::json>& former_keys() {
  static const std::map<std::string_view, nlohmann::json> keys{{"compat_zeros", true},
                                                               {"compat_relu", true},
                                                               {"compat_accumulate", true},
                                                               {"row_gradients", "dense"},
                                                               {"lookup", "sequential"}};
  return keys;
}

constexpr std::string_view kFormerEngine = "sparse_engine";

void read_former_keys(const JsonNode& here, Case& c) {
  for (const auto& [name, original] : former_keys()) {
    if (const auto place = here.find(name)) {
      c.as_original = c.as_original || place->value == original;
    }
  }
  if (const auto place = here.find(kFormerEngine)) {
    c.engine += "+" + place->text();  // this engine carried the rows of embedding tables
  }
}

}  // namespace

ordered_json json_of(const Value& value) {
  return std::visit([](const auto& known) -> ordered_json { return known; }, value);
}

ordered_json to_json(const Case& c) {
  ordered_json json = ordered_json::object();
  for (const Field& field : fields()) {
    const std::string name(field.json_name());
    const Value value = value_of(field, c);
    const JsonForm form = field.json.form;
    const bool usual = value == default_value(field);
    if (form == JsonForm::kUnlessDefault && usual) {
      continue;
    }
    const bool is_null =
        (form == JsonForm::kStated && !is_stated(field, c)) || (form == JsonForm::kOrNull && usual);
    json[name] = is_null ? ordered_json() : json_of(value);
  }
  return json;
}

Case from_json(const JsonNode& here) {
  Case c;
  std::set<std::string_view> known;
  for (const Field& field : fields()) {
    known.insert(field.json_name());
    if (field.json.form == JsonForm::kUnlessDefault && !here.find(field.json_name())) {
      continue;
    }
    const JsonNode place = here.at(field.json_name());
    const bool is_null = place.value.is_null();
    if (is_null && field.json.form == JsonForm::kStated) {
      c.forget(std::string(field.json_name()));
    } else if (!is_null || field.json.form != JsonForm::kOrNull) {
      access_of<Case>(field).set(c,
                                 std::visit(JsonValueReader{field, place}, default_value(field)));
    }
  }
  for (const auto& [name, original] : former_keys()) {
    known.insert(name);
  }
  known.insert(kFormerEngine);
  here.check_keys(known);
  read_former_keys(here, c);
  return c;
}

}  // namespace paceline::cases
