// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <regex>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/ddl_names.h"
#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/records/importers.h"
#include "paceline/records/read_command.h"

namespace paceline::records {
namespace {

constexpr int kMostRanks = 1 << 16;

/// What the name of a file of ddl-benchmarks says; of ranks, how many train.
void read_name(const std::string& path, Configuration& c) {
  static const std::regex pattern(
      "rdma-([0-9]+)-method-(.+)-dnn-(.+)-bs-([0-9]{1,6})-nworker-"
      "([0-9]{1,5})-compressor-(.+?)(-thres-.*)?");
  const std::string name = std::filesystem::path(path).stem().string();
  std::smatch found;
  if (std::regex_match(name, found, pattern)) {
    const std::string method = found[2];
    const std::string codec = our_name(kDdlCompressors, method);
    c.strategy =
        codec != method ? "bsp+" + codec : our_name(kDdlMethods, method);
    c.label = method;
    if (const std::string compressor = found[6]; compressor != "none") {
      c.strategy += "+" + our_name(kDdlCompressors, compressor);
      c.label += "+" + compressor;
    }
    const std::string number = found[1];
    const std::string network = our_name(kDdlNetworks, number);
    c.label += " " + (network == number ? "rdma-" + number : network);
    c.model = our_name(kDdlModels, found[3].str());
    c.batch_size = std::stoi(found[4]);
    c.ranks = std::stoi(found[5]);
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
    named_workers_ = case_.ranks;
  }

  std::vector<RunRecord> run() {
    for (; line_ < lines_.size(); ++line_) {
      read_line(lines_[line_]);
    }
    if (!hosts_.empty()) {
      throw UnfinishedRun(
          hosts_.size() == 1
              ? fmt::format(
                    "{}: the log ends before the 'Total' line of its last run",
                    path_)
              : fmt::format("{}: {} workers begin a run and {} end it, each "
                            "with a 'Total' line; the log is cut off, or a "
                            "worker failed",
                            path_,
                            hosts_.size(),
                            std::ranges::count(hosts_, true, &Host::ended)));
    }
    return std::move(records_);
  }

 private:
  /// What one worker of the run prints: Horovod's rank 0, or on each machine
  /// BytePS's first rank.
  struct Host {
    std::vector<double> rates;
    bool ended = false;
  };

  void read_line(const std::string& line) {
    static const std::regex model("Model: (\\S+)");
    static const std::regex batch("Batch size: ([0-9]{1,6})");
    static const std::regex sequence(
        "BERT .*Pretraining, Sentence len: ([0-9]{1,6})");
    static const std::regex iteration(
        "Iter #([0-9]{1,6}): ([0-9.]+) (img|sentences)/sec per (GPU|CPU)");
    static const std::regex total(
        "Total (img|sen)/sec on ([0-9]{1,5}) (GPU|CPU)\\(s\\): .*");
    std::smatch found;
    if (std::regex_search(line, found, iteration)) {
      add_rate(std::stoul(found[1]), rate_of(found[2]));
      if (!commanded_) {  // "GPU" is what logs of BERT always say
        case_.device = found[4] == "GPU" ? "cuda" : "cpu";
        case_.engine = case_.device == "cuda" ? "nccl" : "gloo";
      }
    } else if (std::regex_search(line, found, total)) {
      end_host(std::stoi(found[2]));
    } else if (line.find("Iter #") != std::string::npos ||
               line.starts_with("Total img/sec") ||
               line.starts_with("Total sen/sec")) {
      throw UsageError(fmt::format(
          "{}:{}: '{}' is a line of results that is cut off or mixed with "
          "another",
          path_,
          line_ + 1,
          shown(line)));
    } else if (line.find("BytePS launching worker") != std::string::npos &&
               case_.label == "horovod") {
      case_.label = "byteps";
      case_.strategy = "wfbp+ps";
    } else if (line.starts_with("# paceline run ")) {
      if (line.find(" --strategy ") != std::string::npos) {
        case_.label.clear();
      }
      read_command(std::string_view(line).substr(2),
                   fmt::format("{}:{}: ", path_, line_ + 1),
                   case_);
      commanded_ = true;
    } else if (std::regex_search(line, found, model)) {
      say("model", our_name(kDdlModels, found[1].str()), case_.model);
    } else if (std::regex_search(line, found, batch)) {
      say("batch size", std::stoi(found[1]), case_.batch_size);
    } else if (std::regex_search(line, found, sequence)) {
      if (!commanded_ || case_.sequence_length != 0) {  // 0: the network's own
        say("sentence length", std::stoi(found[1]), case_.sequence_length);
      }
    }
  }

  // A line of the run's own output, which the head of a log of ours says too.
  template <class Value>
  void say(std::string_view what, const Value& said, Value& of_case) const {
    if (commanded_ && of_case != Value{} && of_case != said) {
      throw UsageError(
          fmt::format("{}:{}: {} {}, but the head of this log says {}",
                      path_,
                      line_ + 1,
                      what,
                      said,
                      of_case));
    }
    of_case = said;
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

  // The machines of a run begin together, and each counts from 0.
  void add_rate(std::size_t iteration, double rate) {
    const auto next = std::ranges::find_if(hosts_, [&](const Host& host) {
      return !host.ended && host.rates.size() == iteration;
    });
    if (next != hosts_.end()) {
      next->rates.push_back(rate);
    } else if (iteration == 0 || hosts_.empty()) {
      hosts_.push_back({.rates = {rate}});
    } else {
      throw UsageError(
          fmt::format("{}:{}: iteration {} follows no iteration {}",
                      path_,
                      line_ + 1,
                      iteration,
                      iteration - 1));
    }
  }

  // The total of a machine is its own mean times all ranks.
  void end_host(int ranks) {
    const auto longest =
        std::ranges::max_element(hosts_, {}, [](const Host& host) {
          return host.ended ? 0 : host.rates.size();
        });
    if (longest != hosts_.end()) {
      longest->ended = true;
    }
    if (std::ranges::all_of(hosts_, &Host::ended)) {
      end_run(ranks);
    }
  }

  void check_run(int ranks) const {
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
    if (hosts_.empty()) {
      throw lacks("iterations");
    }
    if (ranks < 1 || ranks > kMostRanks) {
      throw UsageError(fmt::format("{}:{}: {} ranks", path_, line_ + 1, ranks));
    }
    check_workers(ranks);
    const auto machines = static_cast<int>(hosts_.size());
    const auto steps = hosts_.front().rates.size();
    if (ranks % machines != 0 ||
        !std::ranges::all_of(hosts_, [&](const Host& host) {
          return host.rates.size() == steps;
        })) {
      throw UsageError(
          fmt::format("{}:{}: of {} ranks {} workers tell, which must have "
                      "equally many ranks and iterations",
                      path_,
                      line_ + 1,
                      ranks,
                      machines));
    }
  }

  // Ranks that only serve print nothing and are not counted.
  void check_workers(int workers) const {
    const auto refuse = [&](const std::string& why) {
      throw UsageError(fmt::format(
          "{}:{}: {} ranks trained, but {}", path_, line_ + 1, workers, why));
    };
    if (named_workers_ > 0 && named_workers_ != workers) {
      refuse(fmt::format("the name of the file says {}", named_workers_));
    }
    if (!commanded_ || case_.ranks == 0) {
      return;
    }
    const bool serves =
        case_.strategy.find("placement=apart") != std::string::npos;
    if (serves ? workers >= case_.ranks : workers != case_.ranks) {
      refuse(fmt::format("the head of this log says {}{}",
                         case_.ranks,
                         serves ? ", of which some only serve" : ""));
    }
  }

  void end_run(int ranks) {
    check_run(ranks);
    const auto machines = static_cast<int>(hosts_.size());
    if (!commanded_ || case_.ranks == 0) {
      case_.ranks = ranks;
    }
    if (!commanded_) {
      case_.steps = static_cast<int>(hosts_.front().rates.size());
    }
    RunRecord record;
    record.source = Source::kImported;
    record.experiment = std::filesystem::path(path_).filename().string();
    record.run = static_cast<int>(records_.size());
    record.configuration = case_;
    for (int rank = 0; rank < ranks; ++rank) {
      record.ranks.push_back(samples(
          rank,
          hosts_[static_cast<std::size_t>(rank / (ranks / machines))].rates));
    }
    for (int server = ranks; server < case_.ranks; ++server) {
      record.ranks.push_back(samples(server, {}));
    }
    record.warnings.push_back(
        {.code = "rank-0-for-all",
         .seen = machines == 1
                     ? "the log has rank 0's rates alone"
                     : fmt::format("the log has the rates of one rank on each "
                                   "of {} machines",
                                   machines),
         .why = fmt::format("its figures stand for all ranks{}; a sample is "
                            "the mean step of one iteration",
                            machines == 1 ? "" : " of its machine"),
         .advice = "how ranks differ is unknown"});
    records_.push_back(std::move(record));
    hosts_.clear();
  }

  RankSamples samples(int rank, const std::vector<double>& rates) const {
    RankSamples samples;
    samples.rank = rank;
    samples.device = case_.device;
    for (const double rate : rates) {
      samples.step_ns.push_back(std::llround(1e9 * case_.batch_size / rate));
      samples.window_ns += samples.step_ns.back();
    }
    return samples;
  }

  std::vector<std::string> lines_;
  std::string path_;
  std::size_t line_ = 0;
  Configuration case_;
  int named_workers_ = 0;    // by the file's name; 0: it does not say
  bool commanded_ = false;   // the head of a log of ours says the case
  std::vector<Host> hosts_;  // of the run that is being read
  std::vector<RunRecord> records_;
};

}  // namespace

bool is_ddl_log(std::string_view text, const std::string& /*path*/) {
  // Lines may begin with a rank, as of horovodrun: "[1,0]<stdout>:Iter #0: ".
  const bool iterations = text.find("Iter #") != std::string_view::npos &&
                          text.find("/sec per ") != std::string_view::npos;
  return iterations ||
         text.find("\nRunning warmup...") != std::string_view::npos;
}

std::vector<RunRecord> import_ddl(std::string_view text,
                                  const std::string& path) {
  return LogReader(text, path).run();
}

}  // namespace paceline::records
