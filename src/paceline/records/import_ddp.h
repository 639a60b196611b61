// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/records/store.h"

namespace paceline::records {

/// Reads the report that `--json` of PyTorch's DDP benchmark writes (and ours)
/// as records: one per result with measurements, source `imported`, run 0.
/// `path` is for messages.
///
/// The report names the model, batch size, ranks, backend and bucket size; the
/// rest of a configuration is what the benchmark always does.  Its first
/// result of a model is the one without DDP; a further result on as many ranks
/// as an earlier one gets a strategy of its own ("ddp-2"), since the report
/// does not say how they differ.  Measurements of the ranks follow each other.
///
/// Throws `UsageError` that begins with `path:line:` and names the place.
std::vector<RunRecord> import_ddp(std::string_view text,
                                  const std::string& path);

/// Whether the text is such a report.
bool is_ddp_report(std::string_view text, const std::string& path);

/// Reads a record file, or a file of another program that one of importers()
/// recognizes, whichever `path` holds.  An unfinished last line is skipped with
/// a warning.
RecordFile read_any_records(const std::string& path);

}  // namespace paceline::records
