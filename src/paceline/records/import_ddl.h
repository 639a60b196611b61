// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/records/run_record.h"

namespace paceline::records {

/// Whether `text` has the lines of Horovod's synthetic benchmark.
bool is_ddl_log(std::string_view text, const std::string& path);

/// Reads a log of Horovod's or BytePS's synthetic benchmark, or of
/// ddl-benchmarks, as records of source `imported`: one for every block that
/// ends with a "Total" line, which are runs of one case.
///
/// Model, batch size and number of ranks are those of the log, else of the name
/// that ddl-benchmarks gives the file, from which the strategy is taken as well
/// ("fusion", Horovod's, where the name does not say, or "wfbp+ps" where the
/// log says that BytePS launches).  The head of a log of ours says the case's
/// device, engine, number type, link and replay as well; of others the device
/// is what the rates are per, and the engine nccl on GPUs, else gloo.  The log
/// has no step times: each iteration's mean step, batch size / rate, is one
/// sample.  Of Horovod rank 0 wrote, and its figures stand for all ranks, as in
/// the tool's own "Total".  Of BytePS the first rank of every machine wrote;
/// where one log has the lines of all, in any mixture that keeps the order of
/// each machine's, the figures of each stand for the ranks of one machine, and
/// which machine that is nobody knows.
///
/// Throws UsageError that begins with `path:line:` or `path:`.
std::vector<RunRecord> import_ddl(std::string_view text,
                                  const std::string& path);

}  // namespace paceline::records
