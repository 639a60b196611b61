// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "paceline/cluster/cluster.h"
#include "paceline/records/run_record.h"

namespace paceline::predict {

/// Predicted step times beside the measured ones of `records`, as a table for
/// people: a row a case, the largest error, and whether the measured order of
/// the strategies is the predicted one.  Repetitions of a case are one row.
///
/// A case is predicted on `cluster`, which it ran on; one that replays a
/// profile behind an emulated link is predicted for such links alone.  Where
/// nobody gives the rate of one device, it is that of the case's steps without
/// communication, and the row says so.  A case that cannot be predicted has the
/// reason in its row.  Empty where no case has a described network.
std::string compared_text(std::span<const records::RunRecord> records,
                          const std::optional<cluster::Cluster>& cluster);

}  // namespace paceline::predict
