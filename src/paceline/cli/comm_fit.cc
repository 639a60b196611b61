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
                    .device = of.device,
                    .ranks_per_host = of.ranks_per_host};
  for (const stats::LinePiece& piece : fit.pieces) {
    out.line.pieces.push_back(
        {.from_bytes = static_cast<std::int64_t>(piece.from_bytes),
         .alpha = plan::picoseconds_of(piece.alpha_s),
         .beta_ps_per_byte = piece.beta_s_per_byte * 1e12});
  }
  return out;
}

constexpr std::int64_t kShort = 1024;  // bytes whose time is all latency

// One way, of a link that no file describes: half of the smallest short
// message's time, since the message's two directions and the engine are in it;
// 0 where none was measured.
plan::Picoseconds latency_of(std::span<const CommRecord> records) {
  double least_ns = 0;
  std::int64_t bytes = 0;
  for (const CommRecord& r : records) {
    if (r.operation == "message" && r.wrong_elements == 0 &&
        r.bytes <= kShort && (bytes == 0 || r.bytes < bytes)) {
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

plan::ClusterLink link_of(plan::LinkScope scope,
                          double bytes_per_s,
                          plan::Picoseconds latency) {
  return {.name = scope == plan::LinkScope::kHosts ? "hosts" : "devices",
          .scope = scope,
          .sharing = plan::LinkSharing::kHost,
          .bytes_per_s = bytes_per_s,
          .latency_ps = latency,
          .full_duplex = true,
          .fits = {}};
}

plan::ClusterLink new_link(plan::LinkScope scope,
                           std::span<const CommRecord> records) {
  if (records.front().line_bytes_per_s <= 0) {
    throw UsageError(
        "--fit: the line was not measured, so a new link would "
        "have no rate; describe it in the cluster file");
  }
  return link_of(scope, records.front().line_bytes_per_s, latency_of(records));
}

// The text with a link of the scope, which `link` is where it has none.
std::string linked(const std::string& text,
                   const plan::ClusterLink& link,
                   const std::string& path) {
  if (plan::parse_cluster(text, path).link(link.scope) != nullptr) {
    return text;
  }
  std::string with = plan::with_link(text, link);
  try {
    plan::parse_cluster(with, path);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format(
        "--fit: {} takes no more [[links]], and has none that joins {}: {}",
        path,
        link.scope == plan::LinkScope::kHosts ? "hosts" : "devices",
        error.what()));
  }
  return with;
}

}  // namespace

std::vector<plan::LinkFit> fits_of(std::span<const CommRecord> records) {
  std::vector<plan::LinkFit> fits;
  for (const std::string& operation : operations_of(records)) {
    std::vector<stats::SizedTime> points;
    const CommRecord* of = nullptr;
    for (const CommRecord& r : records) {
      if (r.operation == operation && r.wrong_elements == 0 &&
          r.valid.value_or(false)) {
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

void check_fits(const std::string& path, plan::LinkScope scope) {
  if (!std::filesystem::exists(path)) {
    return;
  }
  const std::string text =
      linked(read_text(path), link_of(scope, 1e9, 0), path);
  const plan::Cluster cluster = plan::parse_cluster(text, path);
  plan::with_fits(text, cluster.link(scope)->name, {}, path);
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
  const bool fresh = plan::parse_cluster(text, path).link(scope) == nullptr;
  if (fresh) {
    text = linked(text, new_link(scope, records), path);
  }
  const plan::Cluster cluster = plan::parse_cluster(text, path);
  const std::string& name = cluster.link(scope)->name;
  write_atomically(path, plan::with_fits(text, name, fits, path));
  std::string what;
  for (const plan::LinkFit& fit : fits) {
    what += fmt::format("{}{} (error {:.1f} %)",
                        what.empty() ? "" : ", ",
                        fit.operation,
                        fit.error_percent.value_or(0));
  }
  if (fresh && latency_of(records) == 0) {
    what += fmt::format(
        "; the link's latency is left out: no message of at most {} B was "
        "measured",
        kShort);
  }
  return fmt::format("fits of link '{}' in {}: {}", name, path, what);
}

}  // namespace paceline::cli
