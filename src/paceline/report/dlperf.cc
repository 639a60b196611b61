// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/report/formats.h"
#include "paceline/report/framework_report.h"
#include "paceline/report/markdown.h"

namespace paceline::report {
namespace {

using records::RunRecord;

class Text {
 public:
  explicit Text(std::span<const RunRecord> records) : records_(records) {}

  std::string of(const FrameworkReport& report) {
    line("# Frameworks side by side\n");
    line("Period: {}.\n", report.period);
    environment();
    line("## Frameworks\n");
    line("{}", markdown_rows(report.frameworks));
    line("## Options\n");
    for (const Note& option : report.options) {
      line("- {}: {}", option.term, markdown_escaped(option.text));
    }
    for (const Note& remark : report.remarks) {
      line("- **{}**: {}", remark.term, markdown_escaped(remark.text));
    }
    std::string model;
    for (const FrameworkResults& one : report.results) {
      if (one.data.model != model) {
        model = one.data.model;
        line("\n## {}: training throughput, {}\n",
             markdown_escaped(model),
             one.data.unit);
      }
      results(one);
    }
    return std::move(text_);
  }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += fmt::format(format, std::forward<Values>(values)...) + "\n";
  }

  void environment() {
    line("## Test environment\n");
    std::set<std::string> shown;
    for (const RunRecord& record : records_) {
      for (const records::HostEnvironment& host : record.environment.hosts) {
        if (shown.insert(host.host).second) {
          line("- {}: {}", markdown_escaped(host.host), facts_text(host));
          if (!host.topology.empty()) {
            line("\n```\n{}\n```\n", host.topology);
          }
        }
      }
    }
    if (shown.empty()) {
      line("Not in the records.");
    }
    line("");
  }

  static std::string facts_text(const records::HostEnvironment& host) {
    std::vector<std::string> texts;
    for (const char* name : {"cpu_model",
                             "sockets",
                             "cores",
                             "usable_cores",
                             "memory_gib",
                             "gpus",
                             "driver",
                             "os",
                             "kernel",
                             "virtualized",
                             "governor",
                             "load_average"}) {
      const auto found = host.facts.find(name);
      if (found != host.facts.end()) {
        std::string words = name;
        std::ranges::replace(words, '_', ' ');
        texts.push_back(
            fmt::format("{} {}", words, markdown_escaped(found->second)));
      }
    }
    return fmt::format("{}", fmt::join(texts, "; "));
  }

  void results(const FrameworkResults& one) {
    line("\n### {}\n", markdown_escaped(one.data.title));
    line("{}", markdown_rows(one.throughput));
    line("Speed-up and efficiency against one device of the same column:\n");
    line("{}", markdown_rows(one.speed_up));
    for (std::size_t i = 0; i < one.footnotes.size(); ++i) {
      line("({}) {}  ", i + 1, markdown_escaped(one.footnotes[i]));
    }
    if (!one.footnotes.empty()) {
      line("");
    }
    text_ += framework_charts(one);
    for (const Finding& found : one.findings) {
      line("- {}{}",
           found.column.empty()
               ? ""
               : fmt::format("**{}**: ", markdown_escaped(found.column)),
           markdown_escaped(found.text));
    }
  }

  std::span<const RunRecord> records_;
  std::string text_;
};

}  // namespace

std::string render_dlperf(std::span<const RunRecord> records) {
  return Text(records).of(framework_report(records));
}

}  // namespace paceline::report
