// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/summary_table.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

// Returns the text that all rows share; nothing if they differ or it is empty.
template <class Show>
std::optional<std::string> common(const std::vector<CaseSummary>& rows, Show show) {
  std::set<std::string> texts;
  for (const CaseSummary& row : rows) {
    texts.insert(show(row.configuration));
  }
  return texts.size() == 1 && !texts.begin()->empty() ? std::optional(*texts.begin())
                                                      : std::nullopt;
}

// Returns the bucket size from the strategy's canonical text; empty if the strategy has no buckets.
std::string bucket_of(const cases::Case& c) {
  const std::string size = option_of(c.strategy, "bucket-mb");
  return size.empty() ? "" : fmt::format("bucket {} MiB", size);
}

std::optional<std::string> common_bucket(const std::vector<CaseSummary>& rows) {
  std::vector<CaseSummary> with_bucket;
  std::ranges::copy_if(rows, std::back_inserter(with_bucket), [](const CaseSummary& row) {
    return !bucket_of(row.configuration).empty();
  });
  return with_bucket.empty() ? std::nullopt : common(with_bucket, bucket_of);
}

// Returns the strategy that all rows share, if all of them are predictions with their own labels.
// The label of any other row already is its strategy.
std::optional<std::string> common_strategy(const std::vector<CaseSummary>& rows) {
  const bool named = std::ranges::any_of(rows, [](const CaseSummary& row) {
    return row.source != records::Source::kPredicted || row.configuration.label.empty();
  });
  return named ? std::nullopt : common(rows, [](const cases::Case& c) { return c.strategy; });
}

// Returns the data that all rows share; predictions, imported results and commands do not state it.
std::optional<std::string> common_data(const std::vector<CaseSummary>& rows) {
  const bool trained = std::ranges::all_of(rows, [](const CaseSummary& row) {
    return row.source == records::Source::kMeasured || row.source == records::Source::kExternal;
  });
  const std::string synthetic = trained ? "synthetic data" : "";
  return common(rows, [&](const cases::Case& c) {
    return !c.data.empty() ? fmt::format("data {}", c.data) : c.command.empty() ? synthetic : "";
  });
}

// Returns type and device; imported results may lack either.
std::string type_on_device(const cases::Case& c) {
  const std::string type = c.dtype == "-" ? "" : c.dtype;
  return c.device.empty() ? type : fmt::format("{} on {}", type.empty() ? "-" : type, c.device);
}

}  // namespace

std::string heading_of(const GroupSummary& group) {
  const std::vector<CaseSummary>& rows = group.rows;
  std::vector<std::string> facts;
  const auto add = [&](const std::optional<std::string>& fact) {
    if (fact) {
      facts.push_back(*fact);
    }
  };
  const auto add_text = [&](const std::string& words, std::string cases::Case::*member) {
    add(common(rows,
               [&](const cases::Case& c) { return (c.*member).empty() ? "" : words + c.*member; }));
  };
  add(common_strategy(rows));
  add(common(rows, [](const cases::Case& c) {
    return c.image_size == 0 ? "" : fmt::format("{0} x {0} pixels", c.image_size);
  }));
  add(common(rows, [](const cases::Case& c) {
    return c.sequence_length == 0 ? "" : fmt::format("sequences of {}", c.sequence_length);
  }));
  add(common_data(rows));
  add(common(rows, type_on_device));
  add_text("", &cases::Case::engine);
  add_text("cluster ", &cases::Case::cluster);
  add_text("link ", &cases::Case::link);
  add_text("replay of ", &cases::Case::replay);
  add(common(rows, [](const cases::Case& c) {
    return c.stretch == 1 ? "" : fmt::format("stretched {} times", c.stretch);
  }));
  add(common_bucket(rows));
  add(common(rows, [](const cases::Case& c) {
    return c.threads == 0 ? "" : counted(c.threads, "thread") + " per rank";
  }));
  const bool batch = std::ranges::none_of(rows, [](const CaseSummary& row) {
    return row.configuration.model == "hybrid";  // its steps vary in examples
  });
  return printable(fmt::format("{}{}{}",
                               batch ? model_and_batch(group.model, group.batch_size) : group.model,
                               facts.empty() ? "" : ": ", fmt::join(facts, ", ")));
}

}  // namespace paceline::report
