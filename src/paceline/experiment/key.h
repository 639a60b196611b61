// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "paceline/experiment/settings.h"
#include "paceline/records/configuration.h"

namespace paceline::experiment {

/// Where a key's value goes; the member's type says how its text is read.
using Field =
    std::variant<std::string records::Configuration::*,
                 int records::Configuration::*,
                 double records::Configuration::*,
                 bool records::Configuration::*,
                 std::uint64_t records::Configuration::*,
                 std::vector<int> records::Configuration::*,
                 std::map<std::string, std::string> records::Configuration::*,
                 std::string Settings::*,
                 int Settings::*,
                 double Settings::*,
                 bool Settings::*>;

enum class Group : std::uint8_t {
  kModel,
  kEmbeddings,
  kExchange,
  kMachine,
  kMeasuring,
  kTraining,
  kOutside,
  kOutput,
  kLaunch
};

/// One key of an experiment file; the flag of the same name has dashes.
struct Key {
  std::string_view name;     // bucket_mb
  std::string_view metavar;  // what --help shows for the value
  std::string_view help;
  Field field;
  Group group{};
  std::span<const std::string_view> allowed = {};  // empty: any
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  std::string_view words = {};     // also allowed where a number is expected
  std::string_view fallback = {};  // default, where the field's own is not it
  bool in_file = true;             // else a flag only
  char letter = 0;                 // of a short flag: -H
  std::string_view also = {};      // another flag of the same meaning
};

/// Every key, in the order of --help, of the docs and of a sweep: the last
/// key varies fastest.  To add one, give Configuration or Settings a member
/// and this table a row: files, flags, --help and docs follow.
std::span<const Key> keys();

/// The row of `name` (with underscores), or null.
const Key* find_key(std::string_view name);

/// "--bucket-mb" of "bucket_mb".
std::string flag_of(const Key& key);

/// Whether it describes a case (else the whole run).
bool is_case_key(const Key& key);
bool is_switch(const Key& key);

/// Title of a group in --help and the docs.
std::string_view title_of(Group group);

/// The default as text; empty where it is chosen at run time.
std::string default_text(const Key& key);

/// What is allowed, as the end of "... is not": "a whole number of at least
/// 1", "one of cpu, cuda".
std::string allowed_text(const Key& key);

/// Text of the key's member.  An owner is a configuration or settings.
template <class Owner>
std::string read_key(const Key& key, const Owner& from);

/// Reads `text` into the key's member.  `where` names its origin ("--ranks",
/// "quick.toml:7: ranks").  Throws UsageError with origin, value and what is
/// allowed.
template <class Owner>
void assign_key(const Key& key,
                const std::string& text,
                const std::string& where,
                Owner& to);

/// "unknown key 'modle'; did you mean model? known: ..." for a name in a file
/// that no row has.  The top of a file knows the tables too.
std::string unknown_key(const std::string& name, bool with_tables);

/// The flags of all keys.
std::vector<std::string> all_flags();

}  // namespace paceline::experiment
