// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/cluster/machine.h"

// The costs of software and devices where nothing was measured: the contents of
// data/engine_costs.toml or of a file of the same form.  The file gives the unit of each key, and
// for each table the source and whether it was fitted.

namespace paceline::predict {

/// The costs of an engine's software, on top of the times of links.
struct EngineCosts {
  std::string name, source;
  std::string version_of{};  // the engine whose fits and plan traits apply; empty: this one
  cluster::SoftwareCosts costs{};
  cluster::Algorithm algorithm = cluster::Algorithm::kRing;  // of collectives that have no fit
  bool is_launched_from_python =
      false;  // launched from Python, where the optimizer's kernels are unfused
  plan::Picoseconds module_call = 0;  // host time to launch a module (predict/launch_overhead.h)
  double module_call_spread = 0;      // standard deviation between ranks, as a share of module_call
  double tcp_s_per_byte = 0;  // host time per byte over TCP, on top of the network card's time
  /// The share of the rate between a host's devices that collectives achieve, and the share of that
  /// rate which remains while devices compute; 0: the cluster file's value.
  double device_share = 1, under_compute = 0;
  bool published = false;  // a published program, which is used only if the user names it
  /// Whether this is a lower bound: it has the cluster's own engine, and a collective takes only
  /// the time of its bytes at the links' rates.
  bool bound = false;
  /// Whether the messages that a computing host sends and receives over TCP/IP share one rate, that
  /// of its network cards.
  bool tcp_copies = false;
  plan::Rank most_ranks = 0;  // most ranks in the data behind these costs; 0: no limit

  /// Returns the name of the engine whose fits and plan traits hold: its own name, or `version_of`.
  const std::string& fit_engine_name() const { return version_of.empty() ? name : version_of; }
};

/// The host and device time of an optimizer's kernels.
struct OptimizerCosts {
  std::string name;
  plan::Picoseconds launch_per_tensor = 0;  // host time per tensor of an unfused update
  /// Passes over the tensors' memory that the optimizer makes for each pass of the plan's update,
  /// with unfused and with fused kernels.
  double passes = 1, fused_passes = 1;
};

/// The shares of a device's data-sheet rates that programs achieve, and factors that correct the
/// roofline's layer times.
struct RooflineCosts {
  double copy_share = 1, product_share = 1;
  double backward_per_forward = 1;
  double winograd_speedup = 1;  // for ungrouped 3x3 convolutions of stride 1
  double strided_slowdown = 1;  // for convolutions with a stride above 1
};

/// The costs of engines, among them published programs (bytescheduler, byteps, bluefog), emulated
/// links (link) and a bound (ideal), and of the update rules of plan/optimizer.h.
struct CostTable {
  std::vector<EngineCosts> engines;
  std::vector<OptimizerCosts> optimizers;
  RooflineCosts roofline;
  std::string text{};  // text of the user's file; empty: data/engine_costs.toml

  /// Returns the engine's costs.  Throws UsageError with the known names for an unknown name.
  const EngineCosts& engine(std::string_view name) const;

  /// Returns the optimizer's costs.  One that is not in the table costs only its passes.
  OptimizerCosts optimizer(std::string_view name) const;
};

/// Returns data/engine_costs.toml, which is part of the program.
const CostTable& shipped_costs();

/// Reads a file of the same form.  Throws UsageError, with a message that begins with `path`, for a
/// missing table, an unknown key, or a value of a wrong type.
CostTable read_costs(const std::string& path);

/// Returns the costs of this engine in shipped_costs().
const EngineCosts& engine_costs_named(std::string_view name);

}  // namespace paceline::predict
