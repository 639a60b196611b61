// SPDX-License-Identifier: Apache-2.0
// Writes a cluster as the text of its file.
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "paceline/cluster/cluster.h"
#include "paceline/cluster/cluster_words.h"

namespace paceline::cluster {
namespace {

toml::array array_of(const std::vector<int>& numbers) {
  toml::array array;
  for (const int number : numbers) {
    array.push_back(number);
  }
  return array;
}

toml::table table_of(const LinkCalibration& calibration) {
  toml::table table{{"engine", calibration.engine},
                    {"from_bytes", calibration.from_bytes},
                    {"to_bytes", calibration.to_bytes},
                    {"ranks", array_of(calibration.ranks)}};
  for (const auto& [key, value] : {std::pair{"share", calibration.share},
                                   {"error_percent", calibration.error_percent},
                                   {"doubling_percent", calibration.doubling_percent}}) {
    if (value) {
      table.insert(key, *value);
    }
  }
  for (const auto& [key, value] :
       {std::pair{"base", calibration.base_ps}, {"hop", calibration.hop_ps}}) {
    if (value) {
      table.insert(key, fmt::format("{}ps", *value));
    }
  }
  return table;
}

toml::table table_of(const ClusterLink& link) {
  toml::table table{{"name", link.name},
                    {"joins", word_of(kScopes, link.scope)},
                    {"sharing", word_of(kSharings, link.sharing)},
                    {"duplex", word_of(kDuplexes, link.full_duplex)},
                    {"rate", fmt::format("{}B/s", link.bytes_per_s)},
                    {"latency", fmt::format("{}ps", link.latency_ps)}};
  if (link.under_compute != 1) {
    table.insert("under_compute", link.under_compute);
  }
  if (link.decline != 0) {
    table.insert("decline", link.decline);
  }
  toml::array fits;
  for (const LinkFit& fit : link.fits) {
    toml::array pieces;
    for (const plan::AlphaBetaPiece& piece : fit.line.pieces) {
      pieces.push_back(toml::table{{"from_bytes", piece.from_bytes},
                                   {"alpha", fmt::format("{}ps", piece.alpha)},
                                   {"beta_ps_per_byte", piece.beta_ps_per_byte}});
    }
    toml::table row{
        {"operation", fit.operation}, {"ranks", fit.ranks}, {"pieces", std::move(pieces)}};
    if (fit.error_percent) {
      row.insert("error_percent", *fit.error_percent);
    }
    if (!fit.ranks_per_host.empty()) {
      row.insert("ranks_per_host", array_of(fit.ranks_per_host));
    }
    for (const auto& [key, text] : {std::pair{"engine", fit.engine}, {"device", fit.device}}) {
      if (!text.empty()) {
        row.insert(key, text);
      }
    }
    fits.push_back(std::move(row));
  }
  if (!fits.empty()) {
    table.insert("fits", std::move(fits));
  }
  if (link.calibration) {
    table.insert("calibration", table_of(*link.calibration));
  }
  return table;
}

toml::table table_of(const ClusterDevice& device) {
  toml::table table;
  if (!device.name.empty()) {
    table.insert("name", device.name);
  }
  if (device.flops_per_s) {
    table.insert("flops", fmt::format("{}FLOP/s", *device.flops_per_s));
  }
  if (device.fp8_flops_per_s) {
    table.insert("fp8_flops", fmt::format("{}FLOP/s", *device.fp8_flops_per_s));
  }
  if (device.memory_bytes_per_s) {
    table.insert("memory_bandwidth", fmt::format("{}B/s", *device.memory_bytes_per_s));
  }
  if (device.memory_bytes) {
    table.insert("memory", fmt::format("{}B", *device.memory_bytes));
  }
  if (device.under_transfer != 1) {
    table.insert("under_transfer", device.under_transfer);
  }
  toml::array rows;
  for (const DeviceThroughput& row : device.throughputs) {
    rows.push_back(toml::table{{"model", row.model},
                               {"batch_size", row.batch_size},
                               {"samples_per_s", row.samples_per_s}});
  }
  if (!rows.empty()) {
    table.insert("throughput", std::move(rows));
  }
  return table;
}

}  // namespace

std::string to_toml(const Cluster& cluster) {
  toml::table table{{"name", cluster.name}};
  if (!cluster.source.empty()) {
    table.insert("source", cluster.source);
  }
  toml::array hosts;
  for (const ClusterHost& host : cluster.hosts) {
    toml::table row{{"name", host.name}, {"slots", host.slots}};
    if (!host.interface.empty()) {
      row.insert("interface", host.interface);
    }
    if (host.memory_bytes) {
      row.insert("memory", fmt::format("{}B", *host.memory_bytes));
    }
    hosts.push_back(std::move(row));
  }
  table.insert("hosts", std::move(hosts));
  toml::array links;
  for (const ClusterLink& link : cluster.links) {
    links.push_back(table_of(link));
  }
  if (!links.empty()) {
    table.insert("links", std::move(links));
  }
  if (toml::table device = table_of(cluster.device); !device.empty()) {
    table.insert("device", std::move(device));
  }
  std::ostringstream out;
  out << table << '\n';
  return out.str();
}

}  // namespace paceline::cluster
