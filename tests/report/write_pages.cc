// SPDX-License-Identifier: Apache-2.0
// Writes the pages that page_test.py opens into the folder that is given, one of them of the table
// of published rates that is given too.
#include <cstdint>
#include <fstream>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/records/json.h"
#include "paceline/records/readers.h"
#include "paceline/report/page.h"
#include "report/fixed_records.h"

namespace paceline::report {
namespace {

using records::RunRecord;

// Three strategies on 1 to 8 ranks, and what is predicted for more.
std::vector<RunRecord> scaling_records() {
  std::vector<RunRecord> records{fixed_record({"", "none", 1, 97.2})};
  for (const int ranks : {1, 2, 4, 8}) {
    records.push_back(fixed_record({"", "ddp", ranks, 97.2 + 3 * ranks}));
    records.push_back(fixed_record({"", "fusion", ranks, 97.2 + 1.5 * ranks}));
    records.push_back(fixed_record({"", "bsp", ranks, 97.2 + 5 * ranks}));
  }
  for (const int ranks : {16, 32}) {
    records.push_back(fixed_record({"", "ddp", ranks, 97.2 + 3.2 * ranks}));
    records.back().source = records::Source::kPredicted;
    records.back().predicted = fixed_predictions()[2].predicted;
    records.back().predicted->training_ranks = ranks;
    records.back().predicted->error_bar->validated = ranks == 16;
  }
  return records;
}

// Two strategies that are predicted for 1 to 8 ranks, each on one rank too: of the second one, more
// steps on more ranks.
std::vector<RunRecord> growing_prediction_records() {
  std::vector<RunRecord> records;
  for (const int ranks : {1, 2, 4, 8}) {
    for (const auto& [strategy, steps] :
         {std::pair{"fusion", 10}, {"neighbor-allreduce", 12 + 2 * ranks}}) {
      records.push_back(
          fixed_record({fmt::format("{} ranks", ranks), strategy, ranks, 97.2 + ranks}));
      records.back().source = records::Source::kPredicted;
      records.back().configuration.steps = steps;
      for (records::RankSamples& rank : records.back().ranks) {
        rank.step_ns.resize(static_cast<std::size_t>(steps), 98'000'000);
        rank.window_ns = std::accumulate(rank.step_ns.begin(), rank.step_ns.end(), std::int64_t{0});
        rank.compute_only_step_ns.clear();
      }
    }
  }
  return records;
}

// Six strategies with the long names that options make, one of them run once.
std::vector<RunRecord> long_names_records() {
  std::vector<RunRecord> records;
  for (int run = 0; run < 4; ++run) {
    records.push_back(fixed_record({"", "none", 1, 97.2}, run));
    double step_ms = 100;
    for (const char* strategy :
         {"ddp:bucket-mb=25,first-bucket-mb=1", "fusion:bucket-mb=25+hierarchical:local=4+bf16",
          "mg-wfbp:small-elements=8192+rs-ag+fp16",
          "bytescheduler:partition-mb=4,credit-mb=16,order=priority+ps:servers=4,placement="
          "colocated,assign=round-robin",
          "dear:bucket-mb=25+rs-ag", "wfbp+neighbor-allreduce:topology=one-peer-exp+atc"}) {
      step_ms += 1.5;
      if (run == 0 || step_ms < 108) {
        records.push_back(fixed_record({"", strategy, 4, step_ms}, run));
      }
    }
  }
  return records;
}

// Strategies that train, more than one chart shows, two of them with three seeds each, and what a
// step of one of them is predicted to take.
std::vector<RunRecord> training_records() {
  std::vector<RunRecord> records;
  std::vector<std::pair<std::string, double>> rates{{"fusion", 0.08},
                                                    {"neighbor-allreduce+atc", 0.05}};
  for (int every = 2; every < 15; ++every) {
    if (every != 8) {  // labels leave out 8, the default
      rates.emplace_back(fmt::format("local-sgd:every={}", every), 0.005 * every);
    }
  }
  for (const auto& [strategy, rate] : rates) {
    const std::uint64_t seeds = strategy.starts_with("local-sgd") ? 1 : 3;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      records.push_back(fixed_record({"", strategy, 2, 100}));
      cases::Case& c = records.back().configuration;
      c.data = "digits";
      c.seed = seed;
      c.target = 0.6;
      for (records::RankSamples& rank : records.back().ranks) {
        for (const int step : {0, 2, 4, 6, 8, 10}) {
          const double accuracy =
              0.1 + rate * step + 0.01 * static_cast<double>(seed) + 0.004 * rank.rank;
          rank.evaluations.push_back({.step = step,
                                      .trained_ns = std::int64_t{100'000'000} * step,
                                      .sent_bytes = std::int64_t{2'000'000} * step,
                                      .loss = 1 - accuracy,
                                      .accuracy = accuracy});
        }
      }
    }
  }
  records.push_back(fixed_record({"", "fusion", 2, 20}));
  records.back().source = records::Source::kPredicted;
  records.back().predicted = fixed_predictions()[2].predicted;
  records.back().predicted->training_ranks = 2;
  records.back().configuration.cluster = "two hosts; prices 12345678";
  return records;
}

// Two strategies behind two links, the faster one first, on 2 and 4 ranks, and one rank behind the
// faster one.
std::vector<RunRecord> links_and_ranks_records() {
  std::vector<RunRecord> records{fixed_record({"", "none", 1, 80})};
  records.back().configuration.link = "10Gbit,50us";
  for (const char* link : {"10Gbit,50us", "1Gbit,50us"}) {
    for (const char* strategy : {"bsp", "wfbp"}) {
      for (const int ranks : {2, 4}) {
        records.push_back(fixed_record({"", strategy, ranks, 90.0 + ranks}));
        records.back().configuration.link = link;
      }
    }
  }
  return records;
}

// Two hundred cases, whose names begin and end alike.
std::vector<RunRecord> many_records() {
  std::vector<RunRecord> records;
  for (int mb = 1; mb <= 100; ++mb) {
    for (const char* dtype : {"fp32", "bf16"}) {
      records.push_back(
          fixed_record({"",
                        fmt::format("fusion:bucket-mb={}+hierarchical-neighbor-allreduce:topology="
                                    "one-peer-exp,local=2+awc:window=backward",
                                    mb),
                        4, 100.0 + mb}));
      records.back().configuration.dtype = dtype;
    }
  }
  return records;
}

// Words that are long, foreign or hostile.
std::vector<RunRecord> strange_records() {
  std::vector<RunRecord> records = fixed_repetitions();
  for (RunRecord& record : records) {
    std::string& label = record.configuration.label;
    label += record.configuration.ranks == 1
                 ? " <b onclick=alert(1)>\xE2\x80\xAE</script><script>alert(2)"
                 : std::string(120, 'w') + " \xE5\x88\x86\xE5\xB8\x83";
    record.environment.hosts[0].facts["cpu_model"] = "<script>alert(3)</script>";
  }
  records.push_back(fixed_record({"tiny", "none", 1, 1.1}));
  records.back().configuration.model = "</title><script>alert(4)</script>";
  return records;
}

// Writes the page, and beside it the records, from which page_test.py computes its figures.
void write(const std::string& path, const std::vector<RunRecord>& records) {
  std::ofstream(path + ".html", std::ios::binary) << render_page(records);
  std::ofstream lines(path + ".jsonl", std::ios::binary);
  for (const RunRecord& record : records) {
    lines << records::to_line(record) << "\n";
  }
}

}  // namespace
}  // namespace paceline::report

int main(int argc, char** argv) {
  using namespace paceline::report;
  if (argc != 3) {
    return 2;
  }
  const std::string folder = argv[1];
  write(folder + "/sweep", fixed_records());
  write(folder + "/long_names", long_names_records());
  write(folder + "/links", fixed_link_records());
  write(folder + "/links_and_ranks", links_and_ranks_records());
  write(folder + "/strange", strange_records());
  write(folder + "/many", many_records());
  write(folder + "/scaling", scaling_records());
  write(folder + "/growing_predictions", growing_prediction_records());
  write(folder + "/training", training_records());
  write(folder + "/frameworks", fixed_frameworks());
  write(folder + "/published", paceline::records::read_foreign({argv[2]}).runs);
  return 0;
}
