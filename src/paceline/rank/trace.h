// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "paceline/engines/collective_span.h"
#include "paceline/execution/op_span.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"
#include "paceline/rank/window.h"
#include "paceline/records/run_record.h"
#include "paceline/records/trace.h"

namespace paceline::rank {

/// What one rank recorded of its steps.
struct Recording {
  std::vector<execution::OpSpan> ops;
  std::vector<PhaseSpan> phases;                        // in the order of their starts
  std::vector<engines::CollectiveSpan> transfers = {};  // of c10d::Reducer
  std::function<const plan::CommPlan&(plan::Step)> plan_of;
};

/// The recording as spans of `rank`, with `origin_ns` subtracted from every time.
std::vector<records::Span> spans_of(const Recording& recording, const plan::ModelShape& model,
                                    const plan::Setup& setup, int rank, std::int64_t origin_ns);

/// The trace file of a repetition: `path` for the first one, for later ones with the number of the
/// repetition before the extension: trace.run2.json.
std::string trace_path(const std::string& path, int run);

/// The text by which a rank sends them to rank 0.
std::string to_text(const std::vector<records::Span>& spans);
std::vector<records::Span> spans_from(const std::string& text);

/// A name for each record's part of a trace: its case's label, by which cases are told apart.
std::vector<std::string> names_of(const std::vector<records::RunRecord>& records);

/// The hosts' names by their ranks, of which rank 0 is the first.
std::map<int, std::string> by_rank(const std::vector<std::string>& hosts);

/// The trace file of one repetition, on rank 0: a section for each case.
class CaseTraces {
 public:
  CaseTraces(std::string path, const std::vector<std::string>& hosts)
      : path_(std::move(path)), hosts_(by_rank(hosts)) {}

  /// Writes the file anew, so that it is whole after every case.
  void add(records::RunRecord whole, std::vector<records::Span> spans);

 private:
  std::string path_;
  std::map<int, std::string> hosts_;
  std::vector<records::Span> spans_;       // of all cases, on rank 0's clock
  std::vector<records::RunRecord> cases_;  // without samples
};

}  // namespace paceline::rank
