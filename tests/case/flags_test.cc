// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/flags.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/case/field.h"
#include "paceline/case/legacy_names.h"

namespace paceline::cases {
namespace {

RawSettings parse(const std::string& line) {
  CLI::App app;
  Flags flags(app);
  app.parse(line);
  return flags.raw_settings();
}

RawSettings parse_words(std::vector<std::string> words) {
  CLI::App app;
  Flags flags(app);
  std::ranges::reverse(words);  // as CLI11 takes them
  app.parse(words);
  return flags.raw_settings();
}

std::string rejection_of_words(const std::vector<std::string>& words) {
  try {
    parse_words(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::string rejection_of_line(const std::string& line) {
  try {
    parse(line);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Flags, EveryKeyHasOne) {
  CLI::App app;
  Flags flags(app);
  for (const Field& key : keys()) {
    EXPECT_NE(app.get_option_no_throw(flag_of(key)), nullptr) << key.name;
  }
  const std::string help = app.help();
  for (const Field& key : keys()) {
    EXPECT_NE(help.find(flag_of(key)), std::string::npos) << key.name;
  }
}

TEST(Flags, ReachTheSettingsAsKeys) {
  const RawSettings raw =
      parse("--model mlp --ranks 1,2 --ranks 4 --bucket-mb=1 --yes --channels-last=false --seed 7");
  EXPECT_EQ(raw.flags.at("ranks").size(), 3U);
  EXPECT_EQ(raw.flags.at("ranks")[2].text, "4");
  EXPECT_EQ(raw.flags.at("bucket_mb")[0].text, "1");
  EXPECT_EQ(raw.flags.at("bucket_mb")[0].where, "--bucket-mb");
  EXPECT_EQ(raw.flags.at("yes")[0].text, "true");
  EXPECT_EQ(raw.flags.at("channels_last")[0].text, "false");
  EXPECT_EQ(raw.flags.count("momentum"), 0U);
}

TEST(Flags, TheExperimentIsPositionalAnywhere) {
  const std::string path = PACELINE_SOURCE_DIR "/experiments/quick.toml";
  for (const std::string& line : {path + " --ranks 2", "--ranks 2 " + path, "--yes " + path}) {
    EXPECT_EQ(parse(line).source, path) << line;
  }
}

/// What is said of a flag that no key has.
std::string unknown_of_run(const std::string& flag) {
  std::vector<std::string> known;
  for (const Field& key : keys()) {
    known.push_back(flag_of(key));
  }
  return unknown_flag_message(flag, "run", known);
}

TEST(UnknownFlag, NamesTheLikelyOnes) {
  const std::string help = " paceline run --help lists all";
  EXPECT_EQ(unknown_of_run("--batch_size"),
            "unknown flag '--batch_size'; did you mean '--batch-size'?" + help);
  EXPECT_EQ(unknown_of_run("--modle"), "unknown flag '--modle'; did you mean '--model'?" + help);
  EXPECT_EQ(unknown_of_run("--batch"),
            "unknown flag '--batch'; did you mean '--batch-size'?" + help);
  EXPECT_EQ(unknown_of_run("--step"),
            "unknown flag '--step'; did you mean '--steps' or '--step-unit'?" + help);
  EXPECT_EQ(unknown_of_run("--colour"), "unknown flag '--colour';" + help);
  for (const auto& [former, today] :
       {std::pair("--distributed-backend", "--engine"), std::pair("--warmup-cycles", "--warmup"),
        std::pair("--master-addr", "--rendezvous"), std::pair("--dist-optimizer", "--strategy"),
        std::pair("-np", "--ranks"), std::pair("--amp", "--dtype"),
        std::pair("--network-interface", "--interface"), std::pair("--lookup", "--as-original")}) {
    EXPECT_EQ(unknown_of_run(former),
              fmt::format("unknown flag '{}'; here it is '{}';{}", former, today, help));
  }
}

TEST(Flags, ASmallMachineRunsTheSmallSection) {
  const std::string file = ::testing::TempDir() + "/sections.toml";
  std::ofstream(file) << "steps = 3\n[section.small]\nsteps = 2\n"
                         "[section.other]\nsteps = 1\n";
  const auto steps = [&](const std::string& more, int cores) {
    CLI::App app;
    Flags flags(app);
    app.parse(file + more);
    const RawSettings raw = flags.raw_settings(cores);
    EXPECT_EQ(raw.by_size, raw.section == "small" && more.empty());
    return raw.defaults.at("steps")[0].text;
  };
  EXPECT_EQ(steps("", kSmallBelowCores - 1), "2");
  EXPECT_EQ(steps("", kSmallBelowCores), "3");
  EXPECT_EQ(steps(" --section all", 1), "3");
  EXPECT_EQ(steps(" --section other", 1), "1");
  EXPECT_EQ(steps(" --section small", 64), "2");
  std::ofstream(file) << "steps = 3\n[section.other]\nsteps = 1\n";
  EXPECT_EQ(steps("", 1), "3");
}

TEST(Flags, RejectsALineThatNamesNothing) {
  EXPECT_EQ(rejection_of_line("--yes"),
            "nothing to run: name an experiment (paceline run quick) or a case (paceline run "
            "--model resnet50 --ranks 2)");
}

TEST(Flags, RejectAnEmptyValue) {
  for (const Field& key : keys()) {
    if (!is_switch(key)) {
      EXPECT_EQ(rejection_of_words({"ddp", flag_of(key), ""}),
                flag_of(key) + ": is empty; leave it out, or give a value");
    }
  }
  for (const char* list : {"8,,16", "8,", ",8"}) {
    EXPECT_EQ(rejection_of_line(std::string("--ranks ") + list),
              "--ranks: one of its values is empty; leave it out, or give a value");
  }
  // It would train a network instead.
  EXPECT_EQ(rejection_of_line("--replay a.profile.json,"),
            "--replay: one of its values is empty; leave it out, or give a value");
}

TEST(FindExperiment, LooksBelowTheRoots) {
  const std::vector<std::string> roots = {PACELINE_SOURCE_DIR};
  EXPECT_EQ(find_experiment("ddp", roots), PACELINE_SOURCE_DIR "/experiments/ddp.toml");
  try {
    find_experiment("quik", roots);
    FAIL();
  } catch (const UsageError& error) {
    const std::string said = error.what();
    EXPECT_EQ(said.find("unknown experiment 'quik'; did you mean 'quick'? Known: accuracy, "), 0U)
        << said;
  }
}

/// The table of all keys, for docs/experiments.md.
std::string keys_as_markdown() {
  std::string text =
      "| key | flag | default | allowed | meaning |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const Field& key : keys()) {
    const std::string fallback = default_text(key);
    text += fmt::format(
        "| {} | `{}`{} | {} | {} | {} |\n", key.in_file ? fmt::format("`{}`", key.name) : "-",
        flag_of(key), key.also.empty() ? "" : fmt::format(", `{}`", key.also),
        fallback.empty() ? "-" : fmt::format("`{}`", fallback), allowed_text(key), key.help);
  }
  return text;
}

TEST(Docs, ListEveryKey) {
  std::ifstream file(PACELINE_SOURCE_DIR "/docs/experiments.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(keys_as_markdown()), std::string::npos)
      << "docs/experiments.md should hold:\n"
      << keys_as_markdown();
}

}  // namespace
}  // namespace paceline::cases
