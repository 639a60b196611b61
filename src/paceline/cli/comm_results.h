// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "paceline/measure/comm_findings.h"
#include "paceline/predict/comm_fit.h"

namespace paceline::cli {

/// Where `paceline comm` leaves what was measured, and what it shows of it.
class CommResults {
 public:
  struct Options {
    std::string format = "table";
    std::string records{};  // a file; empty: results/comm-<utc>.jsonl
    predict::FitFile fit{};
    std::size_t rows = 0;  // operations and sizes to be measured
  };

  /// Throws UsageError where a file cannot be written or the format is unknown,
  /// before time is spent.
  explicit CommResults(Options options);

  /// Leaves no folder that this run made and put nothing in.
  ~CommResults();
  CommResults(const CommResults&) = delete;
  CommResults& operator=(const CommResults&) = delete;

  /// Appends the rows to the record file, prints them on stdout, writes the
  /// fits, and says on stderr where the records lie.  Of a run that did not
  /// come to its end, `ended` is what to say first on stderr; it then says how
  /// many rows there are, and writes no fits.  Returns 3 where an engine moved
  /// wrong values, else 0.
  int show(const measure::CommResult& result, const std::string& ended = "");

 private:
  Options options_;
  bool makes_folder_ = false;
};

}  // namespace paceline::cli
