// SPDX-License-Identifier: Apache-2.0
// Writes the pages that page_test.py opens into the folder that is given.
#include <fstream>
#include <string>
#include <vector>

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
    records.back().predicted->error_bar->examined = ranks == 16;
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
         {"ddp:bucket-mb=25,first-bucket-mb=1",
          "fusion:bucket-mb=25+hierarchical:local=4+bf16",
          "mg-wfbp:small-elements=8192+rs-ag+fp16",
          "bytescheduler:partition-mb=4,credit-mb=16,order=priority+ps:servers="
          "4,placement=colocated,assign=round-robin",
          "dear:bucket-mb=25+rs-ag",
          "wfbp+neighbor-allreduce:topology=one-peer-exp+atc"}) {
      step_ms += 1.5;
      if (run == 0 || step_ms < 108) {
        records.push_back(fixed_record({"", strategy, 4, step_ms}, run));
      }
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
    record.environment.hosts[0].facts["cpu_model"] =
        "<script>alert(3)</script>";
  }
  records.push_back(fixed_record({"tiny", "none", 1, 1.1}));
  records.back().configuration.model = "</title><script>alert(4)</script>";
  return records;
}

/// A section that no record stands behind, with every kind of chart in a
/// plane, on logarithmic axes too.
Section section_of_ones_own() {
  Series cells{.name = "cells, held out"};
  Series fitted{.name = "cells, fitted", .look = Look::kOther};
  for (int i = 1; i <= 20; ++i) {
    const double published = 40.0 * i * i;
    Series& series = i % 5 == 0 ? fitted : cells;
    series.points.push_back(
        {.name = "cell",
         .along = published,
         .value = published * (1 + 0.01 * (i % 7 - 3)),
         .interval = stats::Interval{published * 0.94, published * 1.06}});
  }
  const Series diagonal{
      .name = "equal",
      .look = Look::kReference,
      .points = {{.along = 40, .value = 40}, {.along = 16e3, .value = 16e3}}};
  Chart chart{.kind = ChartKind::kPoints,
              .title = "Predicted against published",
              .note = "On the dashed line the two are equal.",
              .along = {"published", "images/s", true},
              .value = {"predicted", "images/s", true},
              .series = {cells, fitted, diagonal}};
  return {.title = "Published tables",
          .charts = {std::move(chart)},
          .sheet = Sheet{.heading = "errors",
                         .columns = {{"", "network"}, {"", "error, %"}},
                         .lines = {{.cells = {"resnet50", "3.1"}}}}};
}

void write(const std::string& path, const Page& page) {
  std::ofstream(path, std::ios::binary) << render_page(page);
}

}  // namespace
}  // namespace paceline::report

int main(int argc, char** argv) {
  using namespace paceline::report;
  if (argc != 2) {
    return 2;
  }
  const std::string folder = argv[1];
  const auto sweep = fixed_records();
  const auto scaling = scaling_records();
  const auto strange = strange_records();
  write(folder + "/sweep.html", page_of(sweep));
  const auto long_names = long_names_records();
  write(folder + "/long_names.html", page_of(long_names));
  const auto links = fixed_link_records();
  write(folder + "/links.html", page_of(links));
  write(folder + "/strange.html", page_of(strange));
  Page page = page_of(scaling);
  page.sections.push_back(section_of_ones_own());
  write(folder + "/scaling.html", page);
  return 0;
}
