// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paceline/plan/cluster.h"
#include "paceline/record/comm_record.h"

namespace paceline::cli {

/// The piecewise alpha-beta model of each operation in `records`, from medians.
/// Records with wrong values, of a link that the engine could not keep up
/// with, and operations of a single size are left out.
std::vector<plan::LinkFit> fits_of(std::span<const record::CommRecord> records);

/// Throws UsageError where write_fits() could not edit the file, before time is
/// spent; one that does not exist is made.
void check_fits(const std::string& path, plan::LinkScope scope);

/// Writes the fits into the cluster file `path`: into the link between hosts
/// where the ranks were on several, else into that between devices.  A file
/// that does not exist is made of `hosts` and of a link at the line's rate; a
/// link that the file lacks is appended, with half of the smallest short
/// message's time as its latency where one was measured.  Returns what was
/// done, in one line. Throws UsageError for a file that cannot be read or
/// edited.
std::string write_fits(const std::string& path,
                       const std::vector<plan::ClusterHost>& hosts,
                       std::span<const record::CommRecord> records);

}  // namespace paceline::cli
