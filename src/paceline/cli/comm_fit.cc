// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/comm_fit.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/plan/cluster_edit.h"
#include "paceline/stats/line_fit.h"

namespace paceline::cli {
namespace {

using record::CommRecord;

std::vector<std::string> operations_of(std::span<const CommRecord> records) {
  std::vector<std::string> names;
  for (const CommRecord& r : records) {
    if (std::ranges::find(names, r.operation) == names.end()) {
      names.push_back(r.operation);
    }
  }
  return names;
}

// alpha and beta in whole picoseconds and picoseconds a byte.
plan::LinkFit to_plan(const CommRecord& of, const stats::LineFit& fit) {
  plan::LinkFit out{.operation = of.operation,
                    .ranks = of.ranks,
                    .line = {},
                    .error_percent = fit.mean_error * 100,
                    .engine = of.engine,
                    .device = of.device};
  for (const stats::LinePiece& piece : fit.pieces) {
    out.line.pieces.push_back(
        {.from_bytes = static_cast<std::int64_t>(piece.from_bytes),
         .alpha = plan::picoseconds_of(piece.alpha_s),
         .beta_ps_per_byte = piece.beta_s_per_byte * 1e12});
  }
  return out;
}

// One way, of a link that no file describes: half of the smallest message's
// time, since the message's two directions and the engine are in it.
plan::Picoseconds latency_of(std::span<const CommRecord> records) {
  double least_ns = 0;
  std::int64_t bytes = 0;
  for (const CommRecord& r : records) {
    if (r.operation == "message" && (bytes == 0 || r.bytes < bytes)) {
      bytes = r.bytes;
      least_ns = r.quantile_ns(0);
    }
  }
  return plan::picoseconds_of(least_ns * 1e-9 / 2);
}

std::string new_file(const std::vector<plan::ClusterHost>& hosts) {
  std::string text = "name = \"measured by paceline comm\"\n";
  for (const plan::ClusterHost& host : hosts) {
    text += fmt::format(
        "\n[[hosts]]\nname = \"{}\"\nslots = {}\n", host.name, host.slots);
    if (!host.interface.empty()) {
      text += fmt::format("interface = \"{}\"\n", host.interface);
    }
  }
  return text;
}

plan::ClusterLink new_link(plan::LinkScope scope,
                           std::span<const CommRecord> records) {
  if (records.front().line_bytes_per_s <= 0) {
    throw UsageError(
        "--fit: the line was not measured, so a new link would "
        "have no rate; describe it in the cluster file");
  }
  return {.name = scope == plan::LinkScope::kHosts ? "hosts" : "devices",
          .scope = scope,
          .sharing = plan::LinkSharing::kHost,
          .bytes_per_s = records.front().line_bytes_per_s,
          .latency_ps = latency_of(records),
          .full_duplex = true,
          .fits = {}};
}

}  // namespace

std::vector<plan::LinkFit> fits_of(std::span<const CommRecord> records) {
  std::vector<plan::LinkFit> fits;
  for (const std::string& operation : operations_of(records)) {
    std::vector<stats::SizedTime> points;
    const CommRecord* of = nullptr;
    for (const CommRecord& r : records) {
      if (r.operation == operation && r.wrong_elements == 0 && r.valid) {
        points.push_back({static_cast<double>(r.bytes), r.median_ns() * 1e-9});
        of = &r;
      }
    }
    if (points.size() >= 2) {
      fits.push_back(to_plan(*of, stats::fit_line(points)));
    }
  }
  return fits;
}

std::string write_fits(const std::string& path,
                       const std::vector<plan::ClusterHost>& hosts,
                       std::span<const CommRecord> records) {
  const auto fits = fits_of(records);
  if (fits.empty()) {
    throw UsageError(
        "--fit: no operation was measured at two sizes with right values");
  }
  std::string text =
      std::filesystem::exists(path) ? read_text(path) : new_file(hosts);
  const auto scope = records.front().ranks_per_host.size() > 1
                         ? plan::LinkScope::kHosts
                         : plan::LinkScope::kDevices;
  plan::Cluster cluster = plan::parse_cluster(text, path);
  if (cluster.link(scope) == nullptr) {
    text += "\n" + plan::link_text(new_link(scope, records));
    cluster = plan::parse_cluster(text, path);
  }
  const std::string& name = cluster.link(scope)->name;
  write_atomically(path, plan::with_fits(text, name, fits, path));
  std::string what;
  for (const plan::LinkFit& fit : fits) {
    what += fmt::format("{}{} (error {:.1f} %)",
                        what.empty() ? "" : ", ",
                        fit.operation,
                        fit.error_percent.value_or(0));
  }
  return fmt::format("fits of link '{}' in {}: {}", name, path, what);
}

}  // namespace paceline::cli
