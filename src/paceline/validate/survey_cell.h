// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "paceline/validate/cell.h"

namespace paceline::validate {

/// What the bytes of a job cross between hosts.
enum class Wire : std::uint8_t {
  kNone,       // one host
  kTcp10,      // TCP/IP on 10GbE
  kTcp100,     // TCP/IP on InfiniBand hardware, the survey's 100GbE
  kInfiniBand  // RDMA on the same
};

/// ddl-benchmarks' key: method, model, network, GPUs.
struct SurveyCell {
  std::string method, model, network;
  int gpus = 4;

  int hosts() const { return gpus / 4; }
  bool serves() const { return method.ends_with("-PS"); }
  /// Gradients go as one tensor behind all computing.
  bool is_fused() const { return method.starts_with("BSP"); }
  bool is_scheduled() const { return method == "ByteScheduler-A2A"; }
};

/// The survey's networks, each of which is new in turn.
std::span<const std::string_view> survey_networks();

/// Throws UsageError for a method, model, network or number of devices that the
/// survey has not.
SurveyCell survey_cell(const Cell& cell);

/// The method whose simulation a row is: ByteScheduler on servers is BytePS
/// with a flag of its servers only, so that of WFBP on servers.
std::string_view simulated_as(std::string_view method);

/// The rows that contradict physics: PS over "100GbE" that equal the 10GbE
/// ones, while the same system with a server-side flag does not.  They are
/// predicted as 10GbE, for they most likely ran over it.
bool ran_over_10gbe(const SurveyCell& cell);

Wire wire_of(const SurveyCell& cell);

}  // namespace paceline::validate
