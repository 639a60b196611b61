// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/case/settings.h"

// Note [One row a field]
// Every field of a case and of the settings is one row of a table. These rows define the keys of
// experiment files, the flags, --help, the keys in docs/experiments.md, the JSON of a record and
// its schema, the key of a case, equality of cases but for some fields (case/same.h), and the
// columns of `diff`.

namespace paceline::cases {

/// The part of a case (a base struct of Case), or the settings, that a field belongs to.
enum class Part : std::uint8_t {
  kNetwork,
  kTraining,
  kTables,
  kExchange,
  kMachine,
  kWindow,
  kProgram,
  kNote,     // members of Case itself, such as its label
  kSettings  // members of Settings, for the whole run
};

/// Environment variables, by name.
using Variables = std::map<std::string, std::string>;

using Value =
    std::variant<std::string, int, double, bool, std::uint64_t, std::vector<int>, Variables>;

/// Functions that read, set and compare one field of an owner. An owner is a case or settings.
template <class Owner>
struct FieldAccess {
  Value (*get)(const Owner&);
  void (*set)(Owner&, Value);
  const void* (*address)(const Owner&);
};

struct Member {
  Part part;
  std::variant<FieldAccess<Case>, FieldAccess<Settings>> access;
};

/// How the JSON form of a case represents a field.
enum class JsonForm : std::uint8_t {
  kAlways,
  kStated,        // null if the record's source does not say it
  kOrNull,        // null if it is 0 or empty, which means "not known"
  kUnlessDefault  // left out if it has its default
};

struct JsonFieldOptions {
  int place = 90;  // position among the fields; ties: order of the table
  JsonForm form = JsonForm::kUnlessDefault;
  std::string_view name = {};  // JSON key, if it differs from Field::name
  int minimum = 0;             // smallest allowed value of an integer in JSON
  int unstated = 0;            // value of an integer that is not stated
};

struct Field {
  std::string_view name = {};     // "bucket_mb"; empty: users cannot set the field
  std::string_view metavar = {};  // placeholder of the value in --help, such as N
  Member of;
  std::span<const std::string_view> allowed = {};  // empty: any
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  std::string_view fallback = {};  // default, if it differs from the initial value of the member
  bool in_file = true;             // false: the key is a flag only, not a key of experiment files
  char letter = 0;                 // letter of a short flag, as in -H
  std::string_view also = {};      // a second name of the flag
  bool in_key = true;              // it influences the result, so it is part of Case::key()
  JsonFieldOptions json = {};
  std::string_view words = {};   // words that are allowed in place of a number
  std::string_view legacy = {};  // other benchmarks' or former names, separated by blanks
  std::string_view help;

  std::string_view json_name() const { return json.name.empty() ? name : json.name; }
};

/// Returns the functions that access the field in an owner of that type.
template <class Owner>
const FieldAccess<Owner>& access_of(const Field& field) {
  return std::get<FieldAccess<Owner>>(field.of.access);
}

/// The fields of a case, in the order of its JSON form.
std::span<const Field> fields();

/// The fields that are keys of files and flags, those of a case first. Their order is that of
/// --help, of the docs and of a sweep, in which the last key varies fastest.
std::span<const Field> keys();

/// Returns the key with this name (with underscores), or null.
const Field* find_key(std::string_view name);

/// Returns the flag of a key: "--bucket-mb" for "bucket_mb".
std::string flag_of(const Field& key);

/// Whether the key describes a case; if not, it describes the whole run.
bool is_case_key(const Field& key);
bool is_switch(const Field& key);

/// The title under which --help shows the keys of a part.
std::string_view title_of(Part part);

/// The value of the field in a new case, or in new settings.
Value default_value(const Field& field);

/// The value of the field in the case.
Value value_of(const Field& field, const Case& c);

/// Whether the case states the field; if not, its record has null.
bool is_stated(const Field& field, const Case& c);

/// The default as text; empty if it is chosen at run time.
std::string default_text(const Field& key);

/// The allowed values, worded to complete the sentence "... is not": "a whole number of at least
/// 1", "one of cpu, cuda".
std::string allowed_text(const Field& key);

/// Returns the value as text, written as users write it in experiment files and flags.
std::string text_of(const Value& value);

/// Parses a text in that notation. `where` names its origin ("--ranks", "quick.toml:7: ranks").
/// Throws UsageError with origin, text and what is allowed.
Value value_from(const Field& key, const std::string& text, const std::string& where);

/// Throws UsageError with `where`, the origin, for a name that is no name of an environment
/// variable or that Paceline and the launchers set themselves.
void check_variable_name(const std::string& name, const std::string& where);

/// Parses one NAME=VALUE; an empty text has no variable. Throws UsageError for any other text, and
/// for a NAME that check_variable_name() rejects.
Variables variables_from(const std::string& text, const std::string& where);

/// The value of the key's field as text. An owner is a case or settings.
template <class Owner>
std::string read_key(const Field& key, const Owner& from) {
  return text_of(access_of<Owner>(key).get(from));
}

/// Assigns the value that `text` has by value_from() to the key's field.
template <class Owner>
void assign_key(const Field& key, const std::string& text, const std::string& where, Owner& to) {
  access_of<Owner>(key).set(to, value_from(key, text, where));
}

namespace detail {

template <class M>
struct MemberOf;
template <class T, class S>
struct MemberOf<T S::*> {
  using Value = T;
  using Struct = S;
};

template <class S>
constexpr Part part_of() {
  return std::is_same_v<S, Network>    ? Part::kNetwork
         : std::is_same_v<S, Training> ? Part::kTraining
         : std::is_same_v<S, Tables>   ? Part::kTables
         : std::is_same_v<S, Exchange> ? Part::kExchange
         : std::is_same_v<S, Machine>  ? Part::kMachine
         : std::is_same_v<S, Window>   ? Part::kWindow
         : std::is_same_v<S, Program>  ? Part::kProgram
         : std::is_same_v<S, Settings> ? Part::kSettings
                                       : Part::kNote;
}

}  // namespace detail

/// The member that a row of a table describes: `member<&Case::ranks>()`.
template <auto M>
constexpr Member member() {
  using T = typename detail::MemberOf<decltype(M)>::Value;
  using S = typename detail::MemberOf<decltype(M)>::Struct;
  using Owner = std::conditional_t<std::is_same_v<S, Settings>, Settings, Case>;
  return {detail::part_of<S>(),
          FieldAccess<Owner>{
              .get = [](const Owner& from) { return Value(std::in_place_type<T>, from.*M); },
              .set = [](Owner& to, Value value) { to.*M = std::get<T>(std::move(value)); },
              .address = [](const Owner& of) -> const void* { return &(of.*M); }}};
}

}  // namespace paceline::cases
