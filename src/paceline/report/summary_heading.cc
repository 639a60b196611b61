// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/summary_table.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

using Case = cases::Case;

// Returns `word` followed by `text`, or an empty text if `text` is empty.
std::string with_prefix(const char* word, const std::string& text) {
  return text.empty() ? "" : word + text;
}

// Returns the bucket size from the strategy's canonical text; empty if the strategy has no buckets.
std::string bucket_of(const Case& c) {
  const std::string size = option_of(c.strategy, "bucket-mb");
  return size.empty() ? "" : fmt::format("bucket {} MiB", size);
}

// Returns the name of the data set, or "synthetic data"; empty for predictions, imported results
// and commands, which do not state it.
std::string data_set_name(const CaseSummary& row) {
  const bool trained =
      row.source == records::Source::kMeasured || row.source == records::Source::kExternal;
  const Case& c = row.configuration;
  return !c.data.empty() ? "data " + c.data : trained && c.command.empty() ? "synthetic data" : "";
}

// Returns number type and device, "bf16 on cuda"; imported results may lack either.
std::string type_on_device(const Case& c) {
  const std::string type = c.dtype == "-" ? "" : c.dtype;
  return c.device.empty() ? type : fmt::format("{} on {}", type.empty() ? "-" : type, c.device);
}

// Returns the facts of a case in the order of the heading.  A fact that is not stated is empty.
// The strategy is stated only for predictions with a label; other rows are labelled by it.
std::vector<std::string> heading_facts_of(const CaseSummary& row) {
  const Case& c = row.configuration;
  const bool named = row.source == records::Source::kPredicted && !c.label.empty();
  return {named ? c.strategy : "",
          c.image_size == 0 ? "" : fmt::format("{0} x {0} pixels", c.image_size),
          c.sequence_length == 0 ? "" : fmt::format("sequences of {}", c.sequence_length),
          data_set_name(row),
          type_on_device(c),
          c.engine,
          with_prefix("cluster ", c.cluster),
          with_prefix("link ", c.link),
          with_prefix("replay of ", c.replay),
          c.stretch == 1 ? "" : fmt::format("stretched {} times", c.stretch),
          bucket_of(c),
          c.threads == 0 ? "" : counted(c.threads, "thread") + " per rank"};
}

// Returns the facts that all rows share. The bucket size counts as shared if it is equal in all
// rows that have buckets.
std::vector<std::string> shared_facts(const std::vector<CaseSummary>& rows) {
  std::vector<std::set<std::string>> texts;
  for (const CaseSummary& row : rows) {
    const std::vector<std::string> facts = heading_facts_of(row);
    texts.resize(facts.size());
    for (std::size_t i = 0; i < facts.size(); ++i) {
      const bool no_buckets = facts[i].empty() && i + 2 == facts.size();
      if (!no_buckets) {
        texts[i].insert(facts[i]);
      }
    }
  }
  std::vector<std::string> shared;
  for (const std::set<std::string>& of_rows : texts) {
    if (of_rows.size() == 1 && !of_rows.begin()->empty()) {
      shared.push_back(*of_rows.begin());
    }
  }
  return shared;
}

}  // namespace

std::string heading_of(const GroupSummary& group) {
  const std::vector<std::string> facts = shared_facts(group.rows);
  const bool batch = std::ranges::none_of(group.rows, [](const CaseSummary& row) {
    return row.configuration.model == "hybrid";  // its steps vary in examples
  });
  return printable(fmt::format("{}{}{}",
                               batch ? model_and_batch(group.model, group.batch_size) : group.model,
                               facts.empty() ? "" : ": ", fmt::join(facts, ", ")));
}

}  // namespace paceline::report
