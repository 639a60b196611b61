// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/records/run_record.h"
#include "paceline/records/store.h"

namespace paceline::records {

/// A log whose run did not come to its end.
class UnfinishedRun : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A kind of file of another program that is read as records.
struct Importer {
  std::string_view name;     // as in `paceline import --from`
  std::string_view summary;  // one line
  bool (*recognizes)(std::string_view text, const std::string& path);
  /// Throws UsageError that begins with the path and, where there is one, the
  /// line.
  std::vector<RunRecord> (*read)(std::string_view text,
                                 const std::string& path);
};

/// All of them.  To add one, write import_<name>.cc and a row here: `paceline
/// import`, `report` and `diff` read this table.
std::span<const Importer> importers();

/// The importer that recognizes the text, or null.
const Importer* importer_of(std::string_view text, const std::string& path);

// The rows' functions, one file each.

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
///
/// RunRecord::adapter has what diff.py prints above its tables.
bool is_ddp_report(std::string_view text, const std::string& path);
std::vector<RunRecord> import_ddp(std::string_view text,
                                  const std::string& path);

/// The `experiment` of such records.
inline constexpr const char* kDdpExperiment = "ddp";

/// Every key of the report but its results, with the text that Python's str()
/// makes of the value: "None" of null, "[1, 'a']" of an array.
std::map<std::string, std::string> ddp_facts(const nlohmann::json& report);

/// Reads a log of Horovod's or BytePS's synthetic benchmark, or of
/// ddl-benchmarks, as records of source `imported`: one for every block that
/// ends with a "Total" line, which are runs of one case.
///
/// Model, batch size and number of ranks are those of the log, else of the name
/// that ddl-benchmarks gives the file, from which the strategy is taken as well
/// ("fusion", Horovod's, where the name does not say, or "wfbp+ps" where the
/// log says that BytePS launches).  The command in the head of a log of ours
/// says the rest of the case as well; of others the device is what the rates
/// are per, and the engine nccl on GPUs, else gloo.  The log has no step times:
/// each iteration's mean step, batch size / rate, is one sample.  Of Horovod
/// rank 0 wrote, and its figures stand for all ranks, as in the tool's own
/// "Total".  Of BytePS the first rank of every machine wrote; where one log has
/// the lines of all, in any mixture that keeps the order of each machine's, the
/// figures of each stand for the ranks of one machine, and which machine that
/// is nobody knows.
///
/// Throws UsageError that begins with `path:line:` or `path:`.
bool is_ddl_log(std::string_view text, const std::string& path);
std::vector<RunRecord> import_ddl(std::string_view text,
                                  const std::string& path);

/// A table of rates (CSV with a header), a published cell a row, as
/// docs/from/dlperf.md describes it.
bool is_rate_table(std::string_view text, const std::string& path);
std::vector<RunRecord> import_rate_table(std::string_view text,
                                         const std::string& path);

/// A log of DLPerf: what was run is in its name, .../2n8g/rn50_b128_fp32_3.log,
/// and the steps are in lines of the framework's own (Oneflow-Inc/DLPerf,
/// extract_*.py).  The window is 100 steps after 20, for every framework.
bool is_dlperf_log(std::string_view text, const std::string& path);
std::vector<RunRecord> import_dlperf_log(std::string_view text,
                                         const std::string& path);

}  // namespace paceline::records
