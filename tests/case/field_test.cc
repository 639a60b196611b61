// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/field.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::cases {
namespace {

/// Converts to the type of any member.
struct AnyValue {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...> /*count*/) {
  return requires { T{(static_cast<void>(I), AnyValue{})...}; };
}

/// Number of members of an aggregate.
template <class T, std::size_t N = 0>
constexpr std::size_t members() {
  if constexpr (takes<T>(std::make_index_sequence<N + 1>())) {
    return members<T, N + 1>();
  } else {
    return N;
  }
}

std::string message_of(auto&& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::string rejection(const std::string& name, const std::string& text) {
  const Field* key = find_key(name);
  return message_of([&] {
    Case c;
    Settings s;
    if (is_case_key(*key)) {
      assign_key(*key, text, flag_of(*key), c);
    } else {
      assign_key(*key, text, flag_of(*key), s);
    }
  });
}

std::size_t fields_of(Part part) {
  return static_cast<std::size_t>(
      std::ranges::count(fields(), part, [](const Field& f) { return f.of.part; }));
}

TEST(Fields, CoverEveryMemberOnce) {
  EXPECT_EQ(fields_of(Part::kNetwork), members<Network>());
  EXPECT_EQ(fields_of(Part::kTraining), members<Training>());
  EXPECT_EQ(fields_of(Part::kTables), members<Tables>());
  EXPECT_EQ(fields_of(Part::kExchange), members<Exchange>());
  EXPECT_EQ(fields_of(Part::kMachine), members<Machine>());
  EXPECT_EQ(fields_of(Part::kWindow), members<Window>());
  EXPECT_EQ(fields_of(Part::kProgram), members<Program>());
  EXPECT_EQ(fields_of(Part::kNote), 3U);  // all but `unstated`
  std::set<std::string_view> names;
  std::size_t of_settings = 0;
  for (const Field& key : keys()) {
    of_settings += is_case_key(key) ? 0 : 1;
    names.insert(key.name);
  }
  EXPECT_EQ(of_settings, members<Settings>());
  EXPECT_EQ(names.size(), keys().size());
}

/// A value that differs from the default of a Case.
std::string other_value(const Field& key) {
  const std::string now = read_key(key, Case{});
  if (is_switch(key)) {
    return now == "true" ? "false" : "true";
  }
  if (key.name == "ranks_per_host") {
    return "1+1";
  }
  if (key.name == "env") {
    return "NAME=VALUE";
  }
  if (!key.allowed.empty()) {
    for (const std::string_view word : key.allowed) {
      if (word != now && word != "auto") {
        return std::string(word);
      }
    }
  }
  return now == "1" ? "7" : "1";
}

TEST(Keys, EachWritesItsOwnMemberAlone) {
  for (const Field& key : keys()) {
    if (!is_case_key(key)) {
      continue;
    }
    Case changed;
    assign_key(key, other_value(key), "test", changed);
    for (const Field& other : keys()) {
      if (is_case_key(other)) {
        EXPECT_EQ(read_key(other, changed) == read_key(other, Case{}), other.name != key.name)
            << key.name << " and " << other.name;
      }
    }
  }
}

TEST(Keys, EveryCaseKeyButLabelAndDiscardShapesTheCase) {
  for (const Field& key : keys()) {
    if (!is_case_key(key)) {
      continue;
    }
    // Keys of embedding tables shape the cases of models that have some.
    Case plain;
    if (key.of.part == Part::kTables) {
      plain.model = "hybrid";
    }
    Case changed = plain;
    assign_key(key, other_value(key), "test", changed);
    EXPECT_EQ(changed.key() == plain.key(), key.name == "label" || key.name == "discard")
        << key.name;
  }
}

TEST(Keys, DefaultsAreValidAndReadBack) {
  for (const Field& key : keys()) {
    const std::string text = default_text(key);
    if (text.empty() || !key.words.empty()) {
      continue;
    }
    EXPECT_EQ(rejection(std::string(key.name), text), "no error") << key.name;
  }
}

TEST(Keys, FlagsHaveDashes) {
  EXPECT_EQ(flag_of(*find_key("bucket_mb")), "--bucket-mb");
  EXPECT_EQ(find_key("bucket-mb"), nullptr);
}

TEST(Keys, RejectionsNameOriginValueAndWhatIsAllowed) {
  EXPECT_EQ(rejection("batch_size", "0"),
            "--batch-size: '0' is not a whole number of at least 1 "
            "or one of max");
  EXPECT_EQ(rejection("batch_size", "32x"),
            "--batch-size: '32x' is not a whole number of at least 1 "
            "or one of max");
  EXPECT_EQ(rejection("batch_size", "99999999999"),
            "--batch-size: '99999999999' is more than 2147483647, the most there can be");
  EXPECT_EQ(rejection("embeddings", "300000000000"),
            "--embeddings: '300000000000' is more than 2147483647, the most there can be");
  EXPECT_EQ(rejection("steps", ""), "--steps: '' is not a whole number of at least 1");
  EXPECT_EQ(rejection("seed", "-1"), "--seed: '-1' is not a whole number of at least 0");
  EXPECT_EQ(rejection("learning_rate", "nan"),
            "--learning-rate: 'nan' is not a number of at least 0");
  EXPECT_EQ(rejection("momentum", "1.5"), "--momentum: '1.5' is not a number from 0 to 1");
  EXPECT_EQ(rejection("device", "gpu"),
            "--device: 'gpu' is not one of auto, cpu, cuda; did you mean 'cpu'?");
  EXPECT_EQ(rejection("dtype", "int8"), "--dtype: 'int8' is not one of fp32, bf16, amp");
  EXPECT_EQ(rejection("channels_last", "yes"), "--channels-last: 'yes' is not true or false");
  EXPECT_EQ(rejection("ranks_per_host", "4+"),
            "--ranks-per-host: '4+' is not ranks of each host joined by +, as 4+4, or one number");
  EXPECT_EQ(rejection("timeout", "0"), "--timeout: '0' is not a number from 1 to 86400");
  EXPECT_EQ(rejection("print_launch", "pbs"),
            "--print-launch: 'pbs' is not one of slurm, mpirun, torchrun");
}

}  // namespace
}  // namespace paceline::cases
