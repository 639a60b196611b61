// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "paceline/engines/collective_span.h"
#include "paceline/execution/op_span.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"
#include "paceline/rank/window.h"
#include "paceline/records/trace.h"

namespace paceline::rank {

/// The spans that one rank recorded in its steps.
struct RankRecording {
  std::vector<execution::OpSpan> ops;
  std::vector<PhaseSpan> phases;  // passes on the training thread, in the order of their starts
  std::vector<engines::CollectiveSpan> transfers = {};  // collectives that c10d::Reducer started
  std::function<const plan::CommPlan&(plan::Step)> plan_of;
};

/// Returns the recording as spans of `rank`, with `origin_ns` subtracted from every time.
std::vector<records::Span> spans_of(const RankRecording& recording, const plan::ModelShape& model,
                                    const plan::Setup& setup, int rank, std::int64_t origin_ns);

/// Returns the trace file of a repetition: `path` for the first one.  For later ones the number of
/// the repetition comes before the extension: trace.run2.json.
std::string trace_path(const std::string& path, int run);

/// These functions convert spans to the text that a rank sends to rank 0, and back.
std::string to_text(const std::vector<records::Span>& spans);
std::vector<records::Span> spans_from(const std::string& text);

/// The trace file of one repetition, which rank 0 writes, with a section for each case.
class CaseTraces {
 public:
  /// `hosts` has the hosts' names by rank.
  CaseTraces(std::string path, const std::vector<std::string>& hosts);

  /// Adds a case, and writes the whole file anew, so that the file is complete after every case.
  void add(const std::string& title, std::vector<records::Span> spans);

 private:
  std::string path_;
  records::TraceNames names_;
  std::vector<records::Span> spans_;  // of all cases, on rank 0's clock
};

}  // namespace paceline::rank
