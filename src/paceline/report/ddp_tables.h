// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paceline/report/cases.h"

// The tables of PyTorch's DDP benchmark, of which its text and JSON are made.

namespace paceline::report {

/// What the benchmark is called with, once for all models.
struct DdpCall {
  std::string engine;
  double bucket_mb = 0;

  bool operator==(const DdpCall&) const = default;
};

/// One table of a call.
struct DdpTable {
  DdpCall call;
  CaseGroup group;
  /// Of the names of the rows: in which keys each differs from an earlier one
  /// of its name, " dtype=bf16"; mostly empty.
  std::vector<std::string> suffixes{};
};

/// The tables by engine, size of buckets, model and batch size, in the order in
/// which they first appear.  The case without DDP is run once for all buckets:
/// it stands in every table.
std::vector<DdpTable> ddp_tables(std::span<const records::RunRecord> records);

/// The record whose environment stands in the header of a call: the first that
/// did not fail.
const records::RunRecord& header_record(const std::vector<DdpTable>& tables,
                                        const DdpCall& call);

/// Whether it stands first in the benchmark's JSON: the case without DDP,
/// which in imported reports may have any ranks.
bool stands_first(const Case& one);

/// The name of a row, padded as the original pads its names.
std::string padded_label(const records::Configuration& configuration);

}  // namespace paceline::report
