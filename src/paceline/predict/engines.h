// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "paceline/cluster/machine.h"

namespace paceline::predict {

/// What an engine's software costs where nothing was measured.
struct EngineCosts {
  std::string_view name;
  std::string_view source;
  cluster::SoftwareCosts costs{};
  cluster::Algorithm algorithm =
      cluster::Algorithm::kRing;      // where nothing was measured
  bool from_python = false;           // so are the optimizer's kernels launched
  plan::Picoseconds module_call = 0;  // host time, predict/hosted.h
  double module_call_spread = 0;      // between ranks, share of it
  double tcp_s_per_byte = 0;          // of a host's own time, beside the card's
  /// What its collectives reach of the rate between a host's devices, and what
  /// is left of that while devices compute; 0: as the cluster file has it.
  double device_share = 1, under_compute = 0;
  bool published = false;  // one published program's, asked for by name
  /// A host that computes sends and receives messages over TCP/IP at one rate
  /// together, that of its cards.
  bool tcp_copies = false;
};

/// Host and device time of an optimizer's kernels.
struct OptimizerCosts {
  std::string_view name;
  std::string_view source;
  plan::Picoseconds launch_per_tensor = 0;  // behind the last collective
  double passes = 0;  // over all tensors, per pass of the plan's update
};

/// nccl, gloo, what one published program cost (bytescheduler, byteps,
/// bluefog), link, ideal.
std::span<const EngineCosts> engine_costs();

/// Throws UsageError with the known names.
const EngineCosts& engine_costs_named(std::string_view name);

/// sgd, adamw; others cost their passes alone.
OptimizerCosts optimizer_costs_named(std::string_view name);

}  // namespace paceline::predict
