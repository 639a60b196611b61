// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/records/comm_record.h"

namespace paceline::predict {

/// Returns the piecewise alpha-beta model of each operation in `records`, from medians.  Leaves out
/// records with wrong values, records of an emulated link that the engine could not keep up with,
/// and operations of a single size.
std::vector<cluster::LinkFit> fits_of(std::span<const records::CommRecord> records);

/// The file that `comm --fit FILE` writes.
struct FitFile {
  std::string path{};     // empty: no fits are written
  std::string command{};  // the command that measured the fits, quoted for a shell
};

/// Throws UsageError if the file of `flag` cannot be written, or if it is an existing file that
/// `writer` did not write.  A writer is "paceline comm" (write_fits) or "paceline calibrate".
void check_replaceable(const std::string& flag, const std::string& path, std::string_view writer);

/// Writes a cluster file of `hosts` and of the one measured link: between hosts if the ranks were
/// on several, else between devices.  The link has the measured stream rate, half of the smallest
/// short message's time as its latency (0 if none was measured), and the fits.  Another cluster
/// file names it under `collectives`.  Returns a summary of the fits, in one line.  Throws
/// UsageError if no operation has a fit.
std::string write_fits(const FitFile& file, const std::vector<cluster::ClusterHost>& hosts,
                       std::span<const records::CommRecord> records);

}  // namespace paceline::predict
