// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/records/comm_record.h"
#include "paceline/records/run_record.h"

namespace paceline::records {

/// What the readers of the Python package made of other programs' files.
struct ForeignRecords {
  std::vector<RunRecord> runs;
  std::vector<CommRecord> operations;
  std::vector<std::string> notes;  // sentences for stderr
  // Places in the list of files, from 0:
  std::set<std::size_t> known;  // which a reader recognizes
  std::vector<std::size_t> file_of_run, file_of_operation;

  bool empty() const { return runs.empty() && operations.empty(); }
  /// Whether a program that wrote a file found wrong values itself.
  bool found_wrong() const;
};

/// Reads files and directories with the readers of python/paceline/readers; an empty `from` lets
/// them find out which of them is to read a file.  Throws UsageError with the readers' sentence,
/// which begins with path:line, and WorldError where the readers cannot be started.
ForeignRecords read_foreign(const std::vector<std::string>& files, const std::string& from = "");

/// The same without those that no reader recognizes.
ForeignRecords read_foreign_if_known(const std::vector<std::string>& files);

/// Whether the text is that of a record file of Paceline.
bool is_record_file(std::string_view text);

/// Whether the text is that of a file of `paceline comm`: a line for each operation.
bool is_operation_file(std::string_view text);

/// What one file, or one directory, holds.
struct AnyFile {
  std::vector<RunRecord> runs;
  std::vector<CommRecord> operations;
  std::vector<std::string> notes;  // sentences for stderr
};

/// Reads the lines of a record file or of a file of operations; an unfinished last one is skipped
/// with a note.  Throws UsageError that begins with
/// `path:line:` for anything else.
AnyFile read_own(const std::string& text, const std::string& path);

/// Reads record files, files of `paceline comm`, and files and directories of other programs that
/// the readers of the Python package recognize, whichever each of `paths` is.  An unfinished last
/// line of records and the log of an unfinished run are skipped with a note.
std::vector<AnyFile> read_any(const std::vector<std::string>& paths);

/// What they can read, a line each.
std::string list_of_readers();

}  // namespace paceline::records
