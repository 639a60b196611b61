// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/ddl.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/ddl_names.h"
#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/experiment/command.h"
#include "paceline/plan/networks/network_shape.h"
#include "paceline/report/cases.h"
#include "paceline/report/link_curves.h"
#include "paceline/stats/distribution.h"
#include "paceline/stats/mean.h"
#include "paceline/strategies/strategy.h"

namespace paceline::report {
namespace {

using records::RunRecord;

constexpr std::size_t kMostIterations = 10;
constexpr std::string_view kRecordsLine = "# records: ";

bool reads_text(const std::string& model) {
  const auto names = plan::network_names();
  return std::ranges::find(names, model) != names.end() &&
         plan::network_shape(model).work.front().kind == plan::LayerKind::kEmbedding;
}

// Samples a second of each iteration on one rank.
std::vector<double> rates_of(const std::vector<std::int64_t>& step_ns, int batch_size) {
  std::size_t iterations = std::min(kMostIterations, step_ns.size());
  while (step_ns.size() % iterations != 0) {
    --iterations;
  }
  const auto steps = static_cast<std::ptrdiff_t>(step_ns.size() / iterations);
  std::vector<double> rates;
  for (auto first = step_ns.begin(); first != step_ns.end(); first += steps) {
    const double seconds =
        1e-9 * static_cast<double>(std::accumulate(first, first + steps, std::int64_t{0}));
    rates.push_back(batch_size * static_cast<double>(steps) / seconds);
  }
  return rates;
}

// The words of the original's two kinds of scripts.
struct Words {
  std::string each, head, total, device;
};

Words words_of(const records::Configuration& c) {
  if (reads_text(c.model)) {
    return {"sentences/sec", "Sen/sec", "sen/sec", "GPU"};  // on CPUs as well
  }
  return {"img/sec", "Img/sec", "img/sec", c.device == "cuda" ? "GPU" : "CPU"};
}

std::string heading(const records::Configuration& c, std::int64_t ranks, const Words& words) {
  if (!reads_text(c.model)) {
    return fmt::format(
        "Model: {}\nBatch size: {}\nNumber of {}s: {}\nRunning warmup...\n"
        "Running benchmark...\n",
        c.model, c.batch_size, words.device, ranks);
  }
  return fmt::format(
      "Running warmup...\nBERT Large Pretraining, Sentence len: {}\n"
      "Running benchmark...\n",
      c.sequence_length == 0 ? plan::kDefaultTokens : c.sequence_length);
}

/// Rates as the original measures them: of the first rank that trains.
struct Rates {
  std::int64_t ranks = 0;     // that train
  std::vector<double> rates;  // of the iterations
};

Rates rates_of(const RunRecord& record) {
  Rates result;
  for (const records::RankSamples& rank : record.ranks) {
    if (!rank.step_ns.empty() && result.ranks++ == 0) {
      result.rates = rates_of(rank.step_ns, record.configuration.batch_size);
    }
  }
  return result;
}

std::string block_of(const RunRecord& record) {
  const records::Configuration& c = record.configuration;
  const auto [ranks, rates] = rates_of(record);
  const Words words = words_of(c);
  std::string text = heading(c, ranks, words);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    text += fmt::format("Iter #{}: {:.1f} {} per {}\n", i, rates[i], words.each, words.device);
  }
  const double mean = stats::mean(rates);
  const double spread = stats::spread(rates);
  const auto of_all = static_cast<double>(ranks);
  return text + fmt::format(
                    "{} per {}: {:.1f} +-{:.1f}\n"
                    "Total {} on {} {}(s): {:.1f} +-{:.1f}\n",
                    words.head, words.device, mean, spread, words.total, ranks, words.device,
                    of_all * mean, of_all * spread);
}

// Letters, digits and what is harmless in a file's name.
std::string plain(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '+' && c != '_' &&
        c != '=') {
      c = '_';
    }
  }
  return text;
}

// The words of the original's benchmarks.py for a strategy.
struct Method {
  std::string name, compressor = "none", threshold = "0";
};

// Without the options of schedule and exchange, which the log's head has.  A strategy that the
// original has not is called by its whole text.
Method method_of(const records::Configuration& c) {
  Method own{.name = plain(c.strategy)};
  const auto known = known_strategy(c);
  if (!known || known->schedule.row == nullptr || known->update.row->name != "gradients") {
    return own;
  }
  const strategies::StrategySpec& spec = *known;
  const std::string text = spec.text();
  const std::string codec =
      their_name(kDdlCompressors, text.substr(std::min<std::size_t>(4, text.size())));
  const bool fuses_all = spec.schedule.row->name == "bsp";
  const std::string threshold = fuses_all ? "536870912" : "0";
  if (fuses_all && !codec.empty() && text.starts_with("bsp+")) {
    return {codec, codec, threshold};
  }
  const bool codes = spec.codec.row != &strategies::codecs().front();
  const std::string name =
      codes                                     ? ""
      : spec.exchange.row->name == "ps"         ? fmt::format("{}+ps", spec.schedule.row->name)
      : spec.exchange.row->name == "all-reduce" ? std::string(spec.schedule.row->name)
                                                : "";
  const std::string theirs = their_name(kDdlMethods, name);
  if (!theirs.empty()) {
    return {theirs, "none", threshold};
  }
  if (codes) {
    own.compressor = plain(strategies::choice_text(*spec.codec.row, spec.codec.options));
  }
  own.threshold = threshold;
  return own;
}

// The original's number of a link of such a rate; other links are named.
std::string network_of(const records::Configuration& c) {
  const auto link = link_of(c);
  if (!link) {
    return "none";
  }
  const double rate = gbit_per_s(*link);
  return rate == 10 ? "0" : rate == 100 ? "1" : plain(c.link);
}

// The ranks that train: the original counts workers, and not servers.
plan::Rank workers_of(const records::Configuration& c) {
  const auto strategy = known_strategy(c);
  if (!strategy) {
    return c.ranks;
  }
  plan::PlanInput input;
  input.world = c.ranks;
  input.local_world = c.ranks_per_host;
  try {
    return std::min<plan::Rank>(c.ranks,
                                strategies::make_planner(*strategy)->training_ranks(input));
  } catch (const UsageError&) {
    return c.ranks;  // they cannot run it: a log of its failure
  }
}

std::string log_stem(const records::Configuration& c) {
  const Method method = method_of(c);
  const std::string network = their_name(kDdlModels, c.model);
  return fmt::format("{}{}-method-{}-dnn-{}-bs-{}-nworker-{}-compressor-{}-thres-{}", kDdlLogBegin,
                     network_of(c), method.name, network.empty() ? plain(c.model) : network,
                     c.batch_size, workers_of(c), method.compressor, method.threshold);
}

}  // namespace

std::string render_ddl(std::span<const RunRecord> records) {
  return foreign_log(records, block_of);
}

std::string ddl_tries(std::span<const RunRecord> records) {
  constexpr double kLevel = 0.95;
  std::string text;
  for (const Case& one : group_cases(records)) {
    const records::Configuration& c = one.configuration();
    std::vector<double> totals;
    for (const RunRecord* run : one.measured()) {
      const auto [ranks, rates] = rates_of(*run);
      totals.push_back(static_cast<double>(ranks) * stats::mean(rates));
    }
    if (totals.size() < 2 || c.has_tables()) {
      continue;
    }
    const double mean = stats::mean(totals);
    const double half = stats::student_t_quantile(kLevel, static_cast<int>(totals.size()) - 1) *
                        stats::standard_error(totals);
    text += fmt::format("# {} on {}, mean of {} tries: {:.1f} {}, 95 % interval {:.1f} to {:.1f}\n",
                        c.strategy, counted(c.ranks, "rank"), totals.size(), mean,
                        words_of(c).total, mean - half, mean + half);
  }
  return text;
}

const std::string& DdlLogNames::of(const records::Configuration& c) {
  std::string& name = of_key_[c.key()];
  if (name.empty()) {
    const std::string stem = log_stem(c);
    name = fmt::format("{}{}", stem, kDdlLogEnd);
    for (int copy = 2; !taken_.insert(name).second; ++copy) {
      name = fmt::format("{}-{}{}", stem, copy, kDdlLogEnd);
    }
  }
  return name;
}

std::string ddl_log(const DdlLogHead& head, std::span<const RunRecord> runs) {
  return fmt::format("# {}, {}\n{}{}\n# {}\n{}{}", head.title, runs.front().started_at,
                     kRecordsLine, head.records, experiment::command_of(runs.front().configuration),
                     render_ddl(runs), ddl_tries(runs));
}

std::string records_of_ddl_log(std::string_view log) {
  const std::size_t title = log.find('\n');
  if (title == std::string_view::npos || !log.substr(title + 1).starts_with(kRecordsLine)) {
    return "";
  }
  log.remove_prefix(title + 1 + kRecordsLine.size());
  return std::string(log.substr(0, log.find('\n')));
}

}  // namespace paceline::report
