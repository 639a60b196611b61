// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/import_ddl.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <regex>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"

namespace paceline::records {
namespace {

constexpr int kMostRanks = 1 << 16;

// Names of ddl-benchmarks and ours.
constexpr auto kMethods =
    std::to_array<std::pair<std::string_view, std::string_view>>({
        {"bspa2a", "bsp"},
        {"wfbp", "wfbp"},
        {"mgwfbp", "mg-wfbp"},
        {"bytescheduler", "bytescheduler"},
        {"bspps", "bsp+ps"},
        {"wfbpps", "wfbp+ps"},
        {"byteschedulerps", "bytescheduler+ps"},
    });
constexpr auto kModels =
    std::to_array<std::pair<std::string_view, std::string_view>>({
        {"bert", "bert-large"},
        {"bert_base", "bert-base"},
    });

template <class Table>
std::string ours(const Table& table, const std::string& theirs) {
  for (const auto& [name, own] : table) {
    if (name == theirs) {
      return std::string(own);
    }
  }
  return theirs;
}

/// What the name of a file of ddl-benchmarks says.
void read_name(const std::string& path, Configuration& c) {
  static const std::regex pattern(
      "rdma-[0-9]+-method-(.+)-dnn-(.+)-bs-([0-9]{1,6})-nworker-([0-9]{1,5})"
      "-compressor-.*");
  const std::string name = std::filesystem::path(path).stem().string();
  std::smatch found;
  if (std::regex_match(name, found, pattern)) {
    c.strategy = ours(kMethods, found[1]);
    c.label = found[1];
    c.model = ours(kModels, found[2]);
    c.batch_size = std::stoi(found[3]);
    c.ranks = std::stoi(found[4]);
  }
}

class LogReader {
 public:
  LogReader(std::string_view text, std::string path)
      : lines_(split_lines(text)), path_(std::move(path)) {
    case_.strategy = "fusion";
    case_.label = "horovod";
    case_.model.clear();
    case_.batch_size = case_.ranks = 0;
    read_name(path_, case_);
  }

  std::vector<RunRecord> run() {
    for (; line_ < lines_.size(); ++line_) {
      read_line(lines_[line_]);
    }
    if (!rates_.empty()) {
      throw UsageError(fmt::format(
          "{}: the log ends before the 'Total' line of its last run", path_));
    }
    return std::move(records_);
  }

 private:
  void read_line(const std::string& line) {
    static const std::regex model("Model: (\\S+)");
    static const std::regex batch("Batch size: ([0-9]{1,6})");
    static const std::regex sequence(
        "BERT .*Pretraining, Sentence len: ([0-9]{1,6})");
    static const std::regex iteration(
        "Iter #[0-9]+: ([0-9.]+) (img|sentences)/sec per (GPU|CPU)");
    static const std::regex total(
        "Total (img|sen)/sec on ([0-9]{1,5}) (GPU|CPU)\\(s\\): .*");
    std::smatch found;
    if (std::regex_search(line, found, iteration)) {
      rates_.push_back(rate_of(found[1]));
      case_.device = found[3] == "GPU" ? "cuda" : "cpu";
    } else if (std::regex_search(line, found, total)) {
      end_run(std::stoi(found[2]));
    } else if (line.find("Iter #") != std::string::npos ||
               line.starts_with("Total img/sec") ||
               line.starts_with("Total sen/sec")) {
      throw UsageError(fmt::format(
          "{}:{}: '{}' is a line of results that is cut off or mixed with "
          "another",
          path_,
          line_ + 1,
          shown(line)));
    } else if (std::regex_search(line, found, model)) {
      case_.model = ours(kModels, found[1]);
    } else if (std::regex_search(line, found, batch)) {
      case_.batch_size = std::stoi(found[1]);
    } else if (std::regex_search(line, found, sequence)) {
      case_.sequence_length = std::stoi(found[1]);
    }
  }

  double rate_of(const std::string& text) const {
    double rate = 0;
    try {
      rate = std::stod(text);
    } catch (const std::exception&) {
      rate = 0;
    }
    if (!(rate > 0) || rate > 1e9) {
      throw UsageError(
          fmt::format("{}:{}: '{}' is no rate", path_, line_ + 1, text));
    }
    return rate;
  }

  void end_run(int ranks) {
    const auto lacks = [&](std::string_view what) {
      return UsageError(fmt::format(
          "{}:{}: a run without its {}; the log has no such line, and the "
          "file is not named as ddl-benchmarks names it "
          "(rdma-0-method-wfbp-dnn-bert-bs-8-nworker-4-compressor-none-"
          "thres-0.log)",
          path_,
          line_ + 1,
          what));
    };
    if (case_.model.empty()) {
      throw lacks("model");
    }
    if (case_.batch_size < 1) {
      throw lacks("batch size");
    }
    if (rates_.empty()) {
      throw lacks("iterations");
    }
    if (ranks < 1 || ranks > kMostRanks) {
      throw UsageError(fmt::format("{}:{}: {} ranks", path_, line_ + 1, ranks));
    }
    case_.ranks = ranks;
    case_.steps = static_cast<int>(rates_.size());
    case_.engine = case_.device == "cuda" ? "nccl" : "gloo";
    RunRecord record;
    record.source = Source::kImported;
    record.experiment = std::filesystem::path(path_).filename().string();
    record.run = static_cast<int>(records_.size());
    record.configuration = case_;
    for (int rank = 0; rank < ranks; ++rank) {
      record.ranks.push_back(samples(rank));
    }
    record.warnings.push_back(
        {.code = "rank-0-for-all",
         .seen = "the log has rank 0's rates alone",
         .why = "its figures stand for all ranks; a sample is the mean step of "
                "one iteration",
         .advice = ""});
    records_.push_back(std::move(record));
    rates_.clear();
  }

  RankSamples samples(int rank) const {
    RankSamples samples;
    samples.rank = rank;
    samples.device = case_.device;
    for (const double rate : rates_) {
      samples.step_ns.push_back(std::llround(1e9 * case_.batch_size / rate));
      samples.window_ns += samples.step_ns.back();
    }
    return samples;
  }

  std::vector<std::string> lines_;
  std::string path_;
  std::size_t line_ = 0;
  Configuration case_;
  std::vector<double> rates_;  // of the run that is being read
  std::vector<RunRecord> records_;
};

}  // namespace

bool is_ddl_log(std::string_view text, const std::string& /*path*/) {
  return text.find("\nIter #") != std::string_view::npos &&
         text.find("/sec per ") != std::string_view::npos;
}

std::vector<RunRecord> import_ddl(std::string_view text,
                                  const std::string& path) {
  return LogReader(text, path).run();
}

}  // namespace paceline::records
