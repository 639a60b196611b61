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

/// Returns the engine `asked`.  If that is empty, returns the engine that the cluster's fits name,
/// provided that they all name the same one.  Otherwise returns the engine that is made for
/// `device`.
std::string engine_of(const std::string& asked, const cluster::Cluster& cluster,
                      std::string_view device = "cuda");

/// Returns the costs of the engine `asked`.  If that is a lower bound (EngineCosts::bound), returns
/// the costs of the engine that the cluster would use, whose plan the bound simulates.
const EngineCosts& costs_of_engine(const CostTable& costs, const std::string& asked,
                                   const cluster::Cluster& cluster);

/// If `machine` holds no fit of collectives, warns that the cluster's fits are of other engines and
/// are not used.  Throws UsageError if measured fits were asked for by name.
void check_fits(const cluster::Cluster& cluster, const std::string& engine,
                const cluster::Machine& machine, std::vector<records::Warning>& warnings);

/// Warns if the engine's costs, which were fitted to few ranks, are used for many, unless `machine`
/// holds the cluster's own fits.
void check_scale(const EngineCosts& engine, plan::Rank ranks, const cluster::Machine& machine,
                 std::vector<records::Warning>& warnings);

/// Returns whether `profiled`, the device of a profile (cpu, or a GPU's name; empty: unknown), is
/// of another kind than the cluster's devices.
bool is_of_another_device(const std::string& profiled, const cluster::Cluster& cluster,
                          const std::string& engine);

/// Warns if layers were measured on a device `profiled` (cpu, cuda) of another kind than the
/// cluster's.  The kind of the cluster's devices follows from their name, or, without a name, from
/// an engine that moves only GPU memory.
void check_device(const std::string& profiled, const cluster::Cluster& cluster,
                  const std::string& engine, std::vector<records::Warning>& warnings);

/// Warns if the engine's collectives are those of NCCL and the cluster names a model of GPU whose
/// generation is not known.
void check_generation(const cluster::Cluster& cluster, const EngineCosts& engine,
                      std::vector<records::Warning>& warnings);

/// Warns if updates are predicted to take no time because the memory's rate is not known of the
/// model that the cluster names.
void check_memory(const cluster::Cluster& cluster, const cluster::SoftwareCosts& software,
                  std::vector<records::Warning>& warnings);

}  // namespace paceline::predict
