// SPDX-License-Identifier: Apache-2.0
// The JSON of PyTorch's DDP benchmark.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/report/ddp.h"
#include "paceline/report/ddp_tables.h"

namespace paceline::report {
namespace {

using nlohmann::ordered_json;
using records::RunRecord;

// Of records that the reader of such reports makes.
constexpr const char* kImportedExperiment = "ddp";

ordered_json result_of(const Case& one) {
  ordered_json ranks = ordered_json::array();
  for (const records::RankSamples& rank : one.measured().front()->ranks) {
    ranks.push_back(rank.rank);
  }
  return {{"ranks", ranks}, {"measurements", pooled_over_runs(one)}};
}

// Results of one table, of the rows with this suffix and, first, of the case
// without DDP.
ordered_json results_of(const DdpTable& table, const std::string& suffix) {
  std::vector<Case> rows;
  for (std::size_t i = 0; i < table.suffixes.size(); ++i) {
    if (table.suffixes[i] == suffix &&
        !table.group.rows[i].measured().empty()) {
      rows.push_back(table.group.rows[i]);
    }
  }
  for (const Case& one : table.group.rows) {
    if (rows.empty() || std::ranges::any_of(rows, stands_first)) {
      break;
    }
    if (stands_first(one) && !one.measured().empty()) {
      rows.insert(rows.begin(), one);
    }
  }
  if (!rows.empty() && rows[0].first().source != records::Source::kImported) {
    std::ranges::stable_sort(rows, {}, [](const Case& one) {
      return std::pair(one.configuration().ranks, !stands_first(one));
    });
  }
  ordered_json results = ordered_json::array();
  if (rows.empty() || !stands_first(rows.front())) {
    results.push_back(
        {{"ranks", {0}}, {"measurements", ordered_json::array()}});
  }
  for (const Case& one : rows) {
    results.push_back(result_of(one));
  }
  return results;
}

// A whole number is written as one.
ordered_json number_json(double value) {
  const std::int64_t whole = std::llround(value);
  return static_cast<double>(whole) == value ? ordered_json(whole)
                                             : ordered_json(value);
}

// Every key of the report but its results, as Python prints its value.
std::map<std::string, std::string> facts_of(const ordered_json& report) {
  std::map<std::string, std::string> facts;
  for (const auto& [key, value] : report.items()) {
    if (key != "benchmark_results") {
      facts[key] = value.is_null()     ? "None"
                   : value.is_string() ? value.get<std::string>()
                                       : value.dump();
    }
  }
  return facts;
}

DdpReport report_of(const std::vector<DdpTable>& tables,
                    const DdpCall& call,
                    const std::string& suffix) {
  const RunRecord& first = header_record(tables, call);
  const auto version = [](const std::string& text) {
    return text.empty() ? ordered_json() : ordered_json(text);
  };
  DdpReport report;
  report.json = {{"pytorch_version", version(first.environment.torch_version)},
                 {"cuda_version", version(first.environment.cuda_version)},
                 {"distributed_backend", call.engine},
                 {"bucket_size", number_json(call.bucket_mb)},
                 {"benchmark_results", ordered_json::array()}};
  for (const DdpTable& table : tables) {
    if (table.call == call && std::ranges::count(table.suffixes, suffix) > 0) {
      report.json["benchmark_results"].push_back(
          {{"model", table.group.model},
           {"batch_size", table.group.batch_size},
           {"result", results_of(table, suffix)}});
    }
  }
  const bool tells_facts = first.source == records::Source::kImported &&
                           first.experiment == kImportedExperiment;
  report.facts = tells_facts && !first.adapter.empty() ? first.adapter
                                                       : facts_of(report.json);
  return report;
}

// "gloo-1MB-strategy_fusion" of those parts in which the reports differ.
std::string name_of(const DdpCall& call,
                    const std::string& suffix,
                    const std::vector<std::pair<DdpCall, std::string>>& all) {
  std::vector<std::string> parts;
  const auto varies = [&](const auto& part) {
    return std::ranges::any_of(all, [&](const auto& other) {
      return part(other) != part(all.front());
    });
  };
  if (varies([](const auto& one) { return one.first.engine; })) {
    parts.push_back(call.engine);
  }
  if (varies([](const auto& one) { return one.first.bucket_mb; })) {
    parts.push_back(fmt::format("{}MB", call.bucket_mb));
  }
  if (!suffix.empty()) {
    parts.push_back(suffix.substr(1));
  }
  std::string name = fmt::format("{}", fmt::join(parts, "-"));
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' &&
        c != '-' && c != '+') {
      c = '_';
    }
  }
  return name;
}

}  // namespace

std::vector<DdpReport> ddp_reports(std::span<const RunRecord> records) {
  const std::vector<DdpTable> tables = ddp_tables(records);
  std::vector<std::pair<DdpCall, std::string>> all;
  for (const DdpTable& table : tables) {
    for (const std::string& suffix : table.suffixes) {
      add_once(all, {table.call, suffix});
    }
  }
  std::vector<DdpReport> reports;
  for (const auto& [call, suffix] : all) {
    reports.push_back(report_of(tables, call, suffix));
    reports.back().name = name_of(call, suffix, all);
  }
  return reports;
}

std::string render_ddp_json(const DdpReport& report) {
  return report.json.dump(
      -1, ' ', true, ordered_json::error_handler_t::replace);
}

std::string render_ddp_json(std::span<const RunRecord> records) {
  const std::vector<DdpReport> reports = ddp_reports(records);
  PACELINE_CHECK_EQ(reports.size(), std::size_t{1});
  return render_ddp_json(reports.front());
}

std::vector<std::string> write_ddp_reports(const std::string& path,
                                           std::span<const RunRecord> records) {
  std::vector<std::string> files;
  for (const DdpReport& report : ddp_reports(records)) {
    std::filesystem::path file(path);
    if (!report.name.empty()) {
      file.replace_filename(fmt::format("{}-{}{}",
                                        file.stem().string(),
                                        report.name,
                                        file.extension().string()));
    }
    write_atomically(file, render_ddp_json(report));
    files.push_back(file.string());
  }
  return files;
}

}  // namespace paceline::report
