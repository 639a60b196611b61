// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/records/comm_record.h"

namespace paceline::records {

/// Whether the text is the output of a program of NVIDIA's nccl-tests, or the
/// JSON of its -J.
bool is_nccl_tests(std::string_view text);

/// A record for each size, of the out-of-place columns.  The program prints the
/// mean time of its iterations, which is each record's one iteration.  What the
/// operation is must be in the text, as a word such as all_reduce_perf, and who
/// took part, as lines "#  Rank".  Throws UsageError that begins with the path;
/// so does a bus bandwidth that is not the one of as many ranks.
std::vector<CommRecord> import_nccl_tests(std::string_view text,
                                          const std::string& path);

}  // namespace paceline::records
