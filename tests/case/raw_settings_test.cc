// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/raw_settings.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "paceline/base/error.h"

namespace paceline::cases {
namespace {

std::string rejection(std::string_view toml) {
  try {
    parse_raw_settings(toml, "x.toml");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> texts(const std::vector<RawValue>& given) {
  std::vector<std::string> all;
  for (const RawValue& one : given) {
    all.push_back(one.text);
  }
  return all;
}

using Strings = std::vector<std::string>;

TEST(RawSettings, KeepsDefaultsCasesAndSweepApart) {
  const RawSettings raw = parse_raw_settings(
      "batch_size = 8\nchannels_last = true\nlearning_rate = 1e-3\n"
      "[[case]]\nranks = 1\n[[case]]\nranks = 'max'\n"
      "[sweep]\nstrategy = ['ddp', 'fusion']\nbucket_mb = [1, 2.5]\n",
      "x.toml");
  EXPECT_EQ(texts(raw.defaults.at("batch_size")), Strings{"8"});
  EXPECT_EQ(texts(raw.defaults.at("channels_last")), Strings{"true"});
  EXPECT_EQ(texts(raw.defaults.at("learning_rate")), Strings{"0.001"});
  ASSERT_EQ(raw.cases.size(), 2U);
  EXPECT_EQ(texts(raw.cases[1].at("ranks")), Strings{"max"});
  EXPECT_EQ(raw.cases[1].at("ranks").front().where, "x.toml:7: ranks");
  EXPECT_EQ(texts(raw.sweep->at("strategy")), (Strings{"ddp", "fusion"}));
  EXPECT_EQ(texts(raw.sweep->at("bucket_mb")), (Strings{"1", "2.5"}));
}

TEST(RawSettings, UnknownKeyListsTheKnownOnes) {
  const std::string sentence = rejection("\nbucket_size = 25\n");
  EXPECT_TRUE(
      sentence.starts_with("x.toml:2: unknown key 'bucket_size'; here it is 'bucket_mb'. Known: "
                           "label, model, batch_size, image_size, classes, sequence_length, "))
      << sentence;
  EXPECT_TRUE(rejection("[[case]]\nmodle = 'mlp'\n")
                  .starts_with("x.toml:2: unknown key 'modle'; did you mean 'model'? Known: "));
  EXPECT_TRUE(rejection("[sweep]\nqqqqqqqq = 1\n")
                  .starts_with("x.toml:2: unknown key 'qqqqqqqq'. Known: "));
}

TEST(RawSettings, RejectionsNameFileAndLine) {
  EXPECT_EQ(rejection("steps = 0"), "x.toml:1: steps: '0' is not a whole number of at least 1");
  EXPECT_EQ(rejection("steps = 'x'"), "x.toml:1: steps: 'x' is not a whole number of at least 1");
  EXPECT_EQ(rejection("steps = 1.5"), "x.toml:1: steps: '1.5' is not a whole number of at least 1");
  EXPECT_EQ(rejection("device = 1"), "x.toml:1: device: '1' is not one of auto, cpu, cuda");
  EXPECT_EQ(rejection("channels_last = 1"), "x.toml:1: channels_last: '1' is not true or false");
  EXPECT_EQ(rejection("model = ['mlp', 'lenet']"),
            "x.toml:1: model: a list of values belongs under [sweep] or [[case]]");
  EXPECT_EQ(rejection("[[case]]\nranks = []"), "x.toml:2: ranks: the list is empty");
  EXPECT_EQ(rejection("[sweep]\nranks = []"), "x.toml:2: ranks: the list is empty");
  EXPECT_EQ(rejection("[sweep]\nruns = [1]"),
            "x.toml:2: runs holds for the whole experiment; write it above the first table");
  EXPECT_EQ(rejection("dry_run = true"),
            "x.toml:1: dry_run is not a key of files; give the flag --dry-run");
  EXPECT_EQ(rejection("sweep = 'ddp'"), "x.toml:1: write it as [sweep]");
  EXPECT_EQ(rejection("env = 'A=1'"), "x.toml:1: write it as [env]");
  EXPECT_EQ(rejection("[env]\n'A=B' = '1'"),
            "x.toml:2: env: 'A=B' is no name of an environment variable");
  EXPECT_EQ(rejection("case = 3"), "x.toml:1: [[case]]: write each as a table of its own");
}

constexpr const char* kSections =
    "model = 'lenet'\n[sweep]\nranks = [1, 2]\n"
    "[section.small]\nsteps = 3\n[[section.small.case]]\nranks = 1\n"
    "[section.large]\nsteps = 300\n";

TEST(RawSettings, ASectionIsAnExperimentOfItsOwn) {
  const RawSettings whole = parse_raw_settings(kSections, "x.toml");
  EXPECT_EQ(whole.defaults.size(), 1U);
  EXPECT_EQ(whole.sweep->size(), 1U);
  EXPECT_TRUE(whole.cases.empty());
  EXPECT_EQ(whole.sections, (std::vector<std::string>{"large", "small"}));
  EXPECT_EQ(settings_of(whole).name, "x");
  const RawSettings small = parse_raw_settings(kSections, "x.toml", "small");
  EXPECT_EQ(small.defaults.size(), 1U);
  EXPECT_EQ(small.defaults.at("steps")[0].text, "3");
  EXPECT_EQ(small.cases.size(), 1U);
  EXPECT_FALSE(small.sweep);
  EXPECT_EQ(settings_of(small).name, "x_small");
}

TEST(RawSettings, SectionsAreCheckedAndKnownByName) {
  const auto rejected = [](const std::string& text, const std::string& section) {
    try {
      parse_raw_settings(text, "x.toml", section);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(rejected(kSections, "smal"),
            "x.toml: unknown section 'smal'; did you mean 'small'? Known: large, small");
  EXPECT_EQ(rejected("steps = 3", "small"), "x.toml: has no sections, and --section names 'small'");
  EXPECT_EQ(rejected("[section.small]\nsteps = 'x'\n", ""),
            "x.toml:2: steps: 'x' is not a whole number of at least 1");
  EXPECT_EQ(rejected("section = 1", ""), "x.toml:1: write it as [section]");
  EXPECT_EQ(rejected("[section]\nsteps = 3\n", ""), "x.toml:2: write it as [section.steps]");
}

TEST(RawSettings, NoSectionIsCalledAsTheWholeFile) {
  EXPECT_EQ(
      rejection("[section.all]\nsteps = 3\n"),
      "x.toml:1: section: 'all' is what --section calls the rest of the file; take another name");
}

TEST(RawSettings, BrokenTomlNamesTheLine) {
  EXPECT_TRUE(rejection("steps = 3\nbatch_size = = 8\n").starts_with("x.toml:2: not TOML: "));
}

TEST(RawSettings, MissingFileIsAUsageError) {
  EXPECT_THROW(read_raw_settings("/no/such/file.toml"), UsageError);
  EXPECT_THROW(read_raw_settings("/tmp"), UsageError);
}

TEST(RawSettings, AProfileMayLieBesideTheFileThatNamesIt) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("beside." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "p.json") << "{}";
  std::ofstream(folder / "e.toml") << "replay = 'p.json'\n[sweep]\n"
                                      "replay = ['p.json', 'absent.json']\n";
  const RawSettings raw = read_raw_settings((folder / "e.toml").string());
  const std::string found = (folder / "p.json").string();
  EXPECT_EQ(raw.defaults.at("replay")[0].text, found);
  EXPECT_EQ(raw.sweep->at("replay")[0].text, found);
  EXPECT_EQ(raw.sweep->at("replay")[1].text, "absent.json");
  // An experiment names its files from the folder above its own.
  std::filesystem::create_directories(folder / "experiments");
  std::ofstream(folder / "experiments" / "e.toml") << "replay = 'p.json'\n";
  EXPECT_EQ(
      read_raw_settings((folder / "experiments" / "e.toml").string()).defaults.at("replay")[0].text,
      found);
  std::filesystem::remove_all(folder);
}

TEST(RawSettings, AnEmptyFileSaysNothing) {
  EXPECT_TRUE(read_raw_settings("/dev/null").defaults.empty());
}

TEST(SplitFlag, CommasSweepExceptInsideOptions) {
  EXPECT_EQ(texts(split_flag("ranks", {"1,2", "4"})), (Strings{"1", "2", "4"}));
  EXPECT_EQ(texts(split_flag("strategy", {"ddp,fusion:threshold_mb=8,credit=2,"
                                          "bsp+ps:servers=2"})),
            (Strings{"ddp", "fusion:threshold_mb=8,credit=2", "bsp+ps:servers=2"}));
  EXPECT_EQ(texts(split_flag("label", {"a, b"})), Strings{"a, b"});
  EXPECT_EQ(texts(split_flag("ranks", {"1,"})), (Strings{"1", ""}));
}

TEST(SettingsOf, FlagsWinOverTheFile) {
  RawSettings raw = parse_raw_settings("runs = 3\ntimeout = 30\n", "a/quick.toml");
  raw.flags["runs"] = split_flag("runs", {"5"});
  const Settings settings = settings_of(raw);
  EXPECT_EQ(settings.name, "quick");
  EXPECT_EQ(settings.runs, 5);
  EXPECT_EQ(settings.timeout, 30);
}

TEST(SettingsOf, OneValueOnly) {
  RawSettings raw;
  raw.flags["runs"] = split_flag("runs", {"5", "6"});
  try {
    settings_of(raw);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--runs: given 2 times");
  }
}

}  // namespace
}  // namespace paceline::cases
