// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/sheet_heading.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/report/layout.h"

namespace paceline::report {
namespace {

// The one text that all rows share, or nothing.
template <class Show>
std::optional<std::string> common(const std::vector<Row>& rows, Show show) {
  std::set<std::string> texts;
  for (const Row& row : rows) {
    texts.insert(show(row.configuration));
  }
  return texts.size() == 1 && !texts.begin()->empty()
             ? std::optional(*texts.begin())
             : std::nullopt;
}

// Of a strategy that has a bucket its canonical text says which; the key
// beside it is only what a strategy without one would have taken.
std::string bucket_of(const records::Configuration& c) {
  constexpr std::string_view kKey = "bucket-mb=";
  const std::size_t at = c.strategy.find(kKey);
  if (at == std::string::npos) {
    return "";
  }
  const std::string rest = c.strategy.substr(at + kKey.size());
  return fmt::format("bucket {} MiB", rest.substr(0, rest.find_first_of(",+")));
}

std::optional<std::string> common_bucket(const std::vector<Row>& rows) {
  std::vector<Row> with_bucket;
  std::ranges::copy_if(
      rows, std::back_inserter(with_bucket), [](const Row& row) {
        return !bucket_of(row.configuration).empty();
      });
  return with_bucket.empty() ? std::nullopt : common(with_bucket, bucket_of);
}

// Of predictions, whose names do not tell it; those of runs are called by it.
std::optional<std::string> common_strategy(const std::vector<Row>& rows) {
  const bool named = std::ranges::any_of(rows, [](const Row& row) {
    return row.source != records::Source::kPredicted ||
           row.configuration.label.empty();
  });
  return named ? std::nullopt
               : common(rows, [](const records::Configuration& c) {
                   return c.strategy;
                 });
}

}  // namespace

std::string heading_of(const Table& table) {
  using records::Configuration;
  const std::vector<Row>& rows = table.rows;
  std::vector<std::string> facts;
  const auto add = [&](const std::optional<std::string>& fact) {
    if (fact) {
      facts.push_back(*fact);
    }
  };
  add(common_strategy(rows));
  add(common(rows, [](const Configuration& c) {
    return c.image_size == 0 ? ""
                             : fmt::format("{0} x {0} pixels", c.image_size);
  }));
  add(common(rows, [](const Configuration& c) {
    return fmt::format("{} on {}", c.dtype, c.device);
  }));
  add(common(rows, [](const Configuration& c) { return c.engine; }));
  add(common(rows, [](const Configuration& c) {
    return c.cluster.empty() ? "" : fmt::format("cluster {}", c.cluster);
  }));
  add(common(rows, [](const Configuration& c) {
    return c.link.empty() ? "" : fmt::format("link {}", c.link);
  }));
  add(common(rows, [](const Configuration& c) {
    return c.replay.empty() ? "" : fmt::format("replay of {}", c.replay);
  }));
  add(common(rows, [](const Configuration& c) {
    return c.stretch == 1 ? "" : fmt::format("stretched {} times", c.stretch);
  }));
  add(common_bucket(rows));
  add(common(rows, [](const Configuration& c) {
    return c.threads == 0 ? ""
                          : fmt::format("{} {} per rank",
                                        c.threads,
                                        c.threads == 1 ? "thread" : "threads");
  }));
  return printable(fmt::format("{}, batch {} per rank: {}",
                               table.model,
                               table.batch_size,
                               fmt::join(facts, ", ")));
}

}  // namespace paceline::report
