// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/cluster/machine.h"
#include "paceline/predict/engines.h"
#include "paceline/records/run_record.h"

namespace paceline::predict {

/// The engine that is asked for; where none is, the one with which all fits of the cluster that
/// name one were measured, else the one made for `device`.
std::string engine_of(const std::string& asked, const cluster::Cluster& cluster,
                      std::string_view device = "cuda");

/// The costs of the engine that is asked for; for a bound, those of the cluster's own engine, whose
/// plan it prices.
const EngineCosts& priced_engine(const CostTable& costs, const std::string& asked,
                                 const cluster::Cluster& cluster);

/// Where `machine` holds no fit: warns of those that the cluster has of other engines; throws
/// UsageError where measured fits were asked for by name.
void check_fits(const cluster::Cluster& cluster, const std::string& engine,
                const cluster::Machine& machine, std::vector<records::Warning>& warnings);

/// Warns where the engine's costs, a fit to few ranks, are taken for many: no fits of the cluster's
/// own stand in `machine`.
void check_scale(const EngineCosts& engine, plan::Rank ranks, const cluster::Machine& machine,
                 std::vector<records::Warning>& warnings);

/// Whether a profile of `profiled` (cpu, or a GPU's name; empty: not said) is not of the cluster's
/// kind of device.
bool is_of_another_device(const std::string& profiled, const cluster::Cluster& cluster,
                          const std::string& engine);

/// Warns where layers were measured on `profiled` (cpu, cuda) and the cluster's devices are others:
/// by their name, or, where they have none, by an engine that moves GPUs' memory alone.
void check_device(const std::string& profiled, const cluster::Cluster& cluster,
                  const std::string& engine, std::vector<records::Warning>& warnings);

}  // namespace paceline::predict
