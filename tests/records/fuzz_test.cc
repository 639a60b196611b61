// SPDX-License-Identifier: Apache-2.0
// Seeded damage to valid lines: the reader takes the line or rejects it with a sentence, and what
// it takes can be written and read again.  The files of corpus/ are read too; a line that ever
// broke the reader belongs there.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/records/json.h"
#include "paceline/records/store.h"
#include "records/damage.h"
#include "records/sample_record.h"

namespace paceline::records {
namespace {

using damage::below;
using damage::damage_text;
using damage::damage_values;
using nlohmann::json;
using Random = damage::Random;

bool is_sentence(const std::string& text) {
  constexpr std::size_t kLongest = 1000;
  return !text.empty() && text.size() < kLongest &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

enum class Outcome : std::uint8_t { kTaken, kRejected };

Outcome feed(const std::string& line) {
  RunRecord record;
  try {
    record = from_line(line);
  } catch (const UsageError& error) {
    EXPECT_TRUE(is_sentence(error.what())) << error.what();
    return Outcome::kRejected;
  }
  EXPECT_EQ(from_line(to_line(record)), record) << line;
  return Outcome::kTaken;
}

TEST(RecordFuzz, DamagedTextIsTakenOrRejected) {
  Random random(1);
  const std::vector<std::string> lines{to_line(full_record()), to_line(failed_record()),
                                       to_line(predicted_record())};
  int rejected = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string line = lines[below(random, lines.size())];
    for (std::size_t n = 1 + below(random, 3); n > 0 && !line.empty(); --n) {
      line = damage_text(line, random);
    }
    rejected += feed(line) == Outcome::kRejected ? 1 : 0;
  }
  EXPECT_GT(rejected, 500);
}

TEST(RecordFuzz, DamagedValuesAreTakenOrRejected) {
  Random random(2);
  const std::string line = to_line(predicted_record());
  int rejected = 0;
  for (int i = 0; i < 1000; ++i) {
    rejected += feed(damage_values(line, random)) == Outcome::kRejected ? 1 : 0;
  }
  EXPECT_GT(rejected, 500);
}

TEST(RecordFuzz, DeepNestingIsRejected) {
  constexpr std::size_t kDepth = 100'000;
  const std::string open(kDepth, '[');
  EXPECT_EQ(feed(open), Outcome::kRejected);
  EXPECT_EQ(feed(open + std::string(kDepth, ']')), Outcome::kRejected);
  std::string objects;
  for (int i = 0; i < 20'000; ++i) {
    objects += R"({"version":)";
  }
  EXPECT_EQ(feed(objects), Outcome::kRejected);
  json record = to_json(full_record());
  record["configuration"]["model"] = "@";
  std::string line = record.dump();
  line.replace(line.find("\"@\""), 3, open + std::string(kDepth, ']'));
  EXPECT_EQ(feed(line), Outcome::kRejected);
}

TEST(RecordFuzz, HugeNumbersAreRejected) {
  for (const char* number : {"1e999", "-1e999", "9223372036854775808", "18446744073709551616",
                             "1e18", "-9223372036854775809", "0.9999999"}) {
    std::string line = to_line(full_record());
    const std::string key = "\"window_ns\":";
    const std::size_t begin = line.find(key) + key.size();
    line.replace(begin, line.find(',', begin) - begin, number);
    EXPECT_EQ(feed(line), Outcome::kRejected) << number;
  }
}

TEST(RecordFuzz, CorpusIsTakenOrRejected) {
  const std::filesystem::path corpus =
      std::filesystem::path(PACELINE_SOURCE_DIR) / "tests/records/corpus";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    SCOPED_TRACE(entry.path());
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    const bool good = entry.path().filename().string().starts_with("good-");
    EXPECT_EQ(feed(text.str()), good ? Outcome::kTaken : Outcome::kRejected);
    try {
      EXPECT_EQ(read_records(entry.path()).records.size(), good ? 1u : 0u);
    } catch (const UsageError& error) {
      EXPECT_FALSE(good);
      EXPECT_TRUE(std::string(error.what()).starts_with(entry.path().string() + ":1: "))
          << error.what();
    }
    ++files;
  }
  EXPECT_GE(files, 10);
}

}  // namespace
}  // namespace paceline::records
