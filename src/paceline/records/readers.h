// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "paceline/records/comm_record.h"
#include "paceline/records/run_record.h"

namespace paceline::records {

/// The records that the readers of the Python package made from files of other programs.
struct ForeignRecords {
  std::vector<RunRecord> runs;
  std::vector<CommRecord> operations;
  std::vector<std::string> notes;  // sentences to print on stderr
  // Indices in the list of files, from 0:
  std::set<std::size_t> known;  // files that a reader recognizes
  std::vector<std::size_t> file_of_run, file_of_operation;

  bool empty() const { return runs.empty() && operations.empty(); }
  /// Whether a program that wrote one of the files reports wrong values in it.
  bool has_wrong_values() const;
};

/// Reads files and directories with the readers of python/paceline/readers.  `from` names the
/// reader; if it is empty, the reader that recognizes a file reads it.  Throws UsageError with the
/// readers' sentence, which begins with path:line, and WorldError if the readers cannot be started.
ForeignRecords read_foreign(const std::vector<std::string>& files, const std::string& from = "");

/// Reads like read_foreign(), but skips files that no reader recognizes.
ForeignRecords read_foreign_if_known(const std::vector<std::string>& files);

/// Whether the text is that of a Paceline record file.
bool is_record_file(std::string_view text);

/// Whether the text is that of a file of `paceline comm`, which has a line for each operation.
bool is_operation_file(std::string_view text);

/// The content of one file or one directory.
struct FileContents {
  std::vector<RunRecord> runs;
  std::vector<CommRecord> operations;
  std::vector<std::string> notes;  // sentences to print on stderr
};

/// Reads the lines of a record file or of a file of operations.  An unfinished last line is skipped
/// with a note.  Throws UsageError that begins with `path:line:` for anything else.
FileContents read_paceline_file(const std::string& text, const std::string& path);

/// Reads `paths`, each of which may be a record file, a file of `paceline comm`, or a file or
/// directory of another program that a reader of the Python package recognizes.  An unfinished last
/// line of records and the log of an unfinished run are skipped with a note.
std::vector<FileContents> read_any(const std::vector<std::string>& paths);

/// Returns a list of what the readers can read, one line each.
std::string list_of_readers();

/// Returns what a file without times says of a cluster: the output of `nvidia-smi topo -m`, or
/// Slurm's variables (python/paceline/readers/cluster_facts.py); null for any other file.  Throws
/// UsageError, which begins with the path, for a file that contradicts itself.
nlohmann::json cluster_facts_in(const std::string& file);

/// Returns the reason why a program failed, by the file `log` of its output
/// (python/paceline/readers/failure_reason.py).  Returns an empty text if there is no such file.
std::string failure_reason_in(const std::string& log);

}  // namespace paceline::records
