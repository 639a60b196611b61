// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/comm_fit.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/stats/line_fit.h"

namespace paceline::predict {
namespace {

using records::CommRecord;

cluster::LinkFit link_fit_of_line_fit(const CommRecord& of, const stats::LineFit& fit) {
  return {.operation = of.operation,
          .ranks = of.ranks,
          .line = plan::alpha_beta_time_of(fit.pieces),
          .error_percent = fit.mean_error * 100,
          .engine = of.engine,
          .device = of.device,
          .ranks_per_host = of.ranks_per_host};
}

// Up to this size the time of a message is all latency.
constexpr std::int64_t kShortMessageBytes = 1024;

// Returns the one-way latency of a link that no file describes: half of the shortest time of the
// smallest message of at most 1 KiB, because that time includes both directions and the engine.
// Returns 0 if no such message was measured.
plan::Picoseconds latency_of(std::span<const CommRecord> records) {
  double least_ns = 0;
  std::int64_t bytes = 0;
  for (const CommRecord& r : records) {
    if (r.operation == plan::kMessageOperation && r.wrong_elements.value_or(0) == 0 &&
        r.bytes <= kShortMessageBytes && (bytes == 0 || r.bytes < bytes)) {
      bytes = r.bytes;
      least_ns = r.quantile_ns(0);
    }
  }
  return plan::picoseconds_of(least_ns * 1e-9 / 2);
}

constexpr std::string_view kName = "measured by paceline comm";

cluster::ClusterLink link_of(std::span<const CommRecord> records,
                             std::vector<cluster::LinkFit> fits) {
  const CommRecord& any = records.front();
  if (any.line_bytes_per_s <= 0) {
    throw UsageError("--fit: the line was not measured, so the link would have no rate");
  }
  const bool several_hosts = any.ranks_per_host.size() > 1;
  return {.name = several_hosts ? "hosts" : "devices",
          .scope = several_hosts ? cluster::LinkScope::kHosts : cluster::LinkScope::kDevices,
          .sharing = cluster::LinkSharing::kHost,
          .bytes_per_s = any.line_bytes_per_s,
          .latency_ps = latency_of(records),
          .full_duplex = true,
          .fits = std::move(fits)};
}

}  // namespace

std::vector<cluster::LinkFit> fits_of(std::span<const CommRecord> records) {
  std::vector<cluster::LinkFit> fits;
  for (const std::string_view operation : plan::kOperations) {
    std::vector<stats::SizedTime> points;
    const CommRecord* of = nullptr;
    for (const CommRecord& r : records) {
      if (r.operation == operation && r.wrong_elements.value_or(0) == 0 &&
          r.valid.value_or(r.link.empty())) {
        points.push_back({static_cast<double>(r.bytes), r.median_ns() * 1e-9});
        of = &r;
      }
    }
    if (points.size() >= 2) {
      fits.push_back(link_fit_of_line_fit(*of, stats::fit_line(points)));
    }
  }
  return fits;
}

void check_replaceable(const std::string& flag, const std::string& path, std::string_view writer) {
  check_writable(flag, path);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return;
  }
  try {
    if (cluster::read_cluster(path).name.ends_with(fmt::format(" by {}", writer))) {
      return;
    }
  } catch (const UsageError&) {  // the file is no cluster file
  }
  throw UsageError(
      fmt::format("{} {}: exists, and {} did not write it; name another file", flag, path, writer));
}

std::string write_fits(const FitFile& file, const std::vector<cluster::ClusterHost>& hosts,
                       std::span<const CommRecord> records) {
  auto fits = fits_of(records);
  if (fits.empty()) {
    throw UsageError("--fit: no operation was measured at two sizes with right values");
  }
  std::string what;
  for (const cluster::LinkFit& fit : fits) {
    what += fmt::format("{}{} (error {:.1f} %)", what.empty() ? "" : ", ", fit.operation,
                        fit.error_percent.value_or(0));
  }
  const auto [least, most] = std::ranges::minmax(records, {}, &CommRecord::bytes);
  const cluster::Cluster measured{
      .name = std::string(kName),
      .source = fmt::format("{}; {} to {} bytes", file.command, least.bytes, most.bytes),
      .hosts = hosts,
      .links = {link_of(records, std::move(fits))}};
  write_atomically(file.path, cluster::to_toml(measured));
  if (measured.links.front().latency_ps == 0) {
    what += fmt::format("; the link's latency is 0: no message of at most {} B was measured",
                        kShortMessageBytes);
  }
  return fmt::format("fits in {}: {}", file.path, what);
}

}  // namespace paceline::predict
