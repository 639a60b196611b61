// SPDX-License-Identifier: Apache-2.0
// Checks of cases whose models have embedding tables.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/base/text.h"
#include "paceline/case/check.h"
#include "paceline/case/outside.h"
#include "paceline/case/same.h"
#include "paceline/case/tables.h"
#include "paceline/plan/ranks_per_host.h"
#include "paceline/strategies/embedding_job.h"
#include "paceline/strategies/strategy.h"

namespace paceline::cases {
namespace {

// The number of values that one sample receives from all tables together.
double width_of(const Case& c) {
  return static_cast<double>(c.servers > 0 ? c.servers : c.trainers) * c.embedding_dim;
}

// Throws UsageError if the values per sample do not fit an int, or all tables have more than 1e15
// values.
void check_table_sizes(const Case& c, const Where& where) {
  constexpr double kMostNumbers = 1e15;
  const int tables = c.servers > 0 ? c.servers : c.trainers;
  const double numbers = width_of(c) * c.embeddings;
  if (width_of(c) > std::numeric_limits<int>::max()) {
    throw UsageError(fmt::format(
        "{}: {} of {} in each row make {:.0f} numbers of a sample; at most {}",
        where("embedding_dim"), counted(tables, "table"), counted(c.embedding_dim, "number"),
        width_of(c), std::numeric_limits<int>::max()));
  }
  if (numbers > kMostNumbers) {
    throw UsageError(fmt::format(
        "{}: {} of {} in {} are {:.1e} numbers; at "
        "most {:.0e}",
        where("embeddings"), counted(c.embeddings, "row"), counted(c.embedding_dim, "number"),
        counted(tables, "table"), numbers, kMostNumbers));
  }
}

void check_table_memory(const Case& c, const MachineFacts& m, const Where& where) {
  const std::vector<int> hosts =
      m.joined() ? plan::fill_hosts(c.ranks, m.ranks_per_host) : std::vector<int>{c.ranks};
  std::int64_t bytes = 0;
  try {
    bytes = std::ranges::max(bytes_by_host(memory_of_run(c), hosts));
  } catch (const UsageError&) {
    return;  // a case without a plan is rejected when it is planned
  }
  const std::int64_t memory = usable_memory_bytes();
  if (bytes > memory) {
    throw UsageError(fmt::format(
        "{}: {} of {} in {}{}: the ranks of one host take {:.1f} GB, and this machine has {:.1f} "
        "GB; take fewer or shorter rows",
        where("embeddings"), counted(c.embeddings, "row"), counted(c.embedding_dim, "number"),
        counted(c.servers > 0 ? c.servers : c.trainers, "table"),
        c.placement != "replicated" ? ""
        : c.servers > 0             ? ", on every server"
                                    : ", on every trainer",
        static_cast<double>(bytes) * 1e-9, static_cast<double>(memory) * 1e-9));
  }
}

void check_no_tables(const Case& c, const Where& where) {
  if (const Field* key = difference_in(c, Case{}, {Part::kTables})) {
    throw UsageError(
        fmt::format("{}: model {} has no embedding tables; those that have are hybrid, dlrm",
                    where(key->name), c.model));
  }
}

void check_dense_strategy(const Case& c, const Where& where) {
  const strategies::StrategySpec spec = strategies::parse_strategy(canonical_strategy(c, where));
  if (spec.external() || is_outside(c)) {
    throw UsageError(
        fmt::format("{}: '{}' is a program outside, which knows no model with embedding tables",
                    where(!c.command.empty() ? "command"
                          : is_outside(c)    ? "framework"
                                             : "strategy"),
                    c.command.empty() ? performer_of(c) : c.command));
  }
  if (spec.update.row != nullptr && spec.update.row->parameters) {
    throw UsageError(
        fmt::format("{}: '{}' sends parameters, and beside embedding tables the gradients of the "
                    "dense part cross; take an update rule that sends them, as gradients or zero-1",
                    where("strategy"), c.strategy));
  }
  if (spec.exchange.row != nullptr && spec.exchange.row->name == "ps" &&
      spec.exchange.options.text("placement") == "apart") {
    throw UsageError(
        fmt::format("{}: '{}' makes some of the {} trainers servers of the dense part, which all "
                    "of them train beside embedding tables; take ps:placement=colocated",
                    where("strategy"), c.strategy, c.trainers));
  }
}

void reject(const std::string& origin, bool given, std::string_view why) {
  if (given) {
    throw UsageError(fmt::format("{}: {}", origin, why));
  }
}

void check_placement(const Case& c, const Where& where) {
  const auto why =
      strategies::why_not_placed({.placement = strategies::table_placement(c.placement),
                                  .sequential = c.as_original,
                                  .staleness = c.staleness,
                                  .colocated = c.servers == 0});
  reject(where(c.staleness > 0 ? "staleness" : "as_original"), !why.empty(), why);
}

void check_training(const Case& c, const Where& where) {
  reject(where("device"), c.device != "cpu",
         "embedding rows are looked up and pooled on the CPU; take cpu");
  reject(where("accumulate"), c.accumulate > 1,
         "embedding tables are looked up once a step; leave it out");
  reject(where("clip_norm"), c.clip_norm > 0,
         "the norm of all gradients needs those of embedding rows, which servers apply one by one; "
         "leave it out");
  reject(where("dtype"), c.dtype != "fp32",
         "embedding rows and what takes them are fp32; take fp32");
  if (c.batch_size != Case{}.batch_size) {
    check_batch(c.model, where("batch_size"));
  }
  reject(where("as_original"), c.model != "hybrid" && c.as_original,
         "dlrm has no original; leave it out");
  reject(where("link"), !c.link.empty(),
         "an emulated link cannot tell the true length of a lookup that arrives; leave it out");
}

}  // namespace

void check_batch(const std::string& model, const std::string& origin) {
  reject(origin, model == "hybrid",
         "a step of hybrid has as many bags as 20 to 50 ids make; leave it out, or take dlrm");
}

void check_tables(Case& c, const MachineFacts& m, const Where& where) {
  if (!c.has_tables()) {
    check_no_tables(c, where);
    return;
  }
  const int ranks = c.servers > 0 ? c.trainers + c.servers + 1 : c.trainers;
  if (c.ranks != ranks && c.ranks != std::max(1, m.world())) {
    throw UsageError(fmt::format("{}: '{}', but {} trainers{} are {} ranks; leave it out",
                                 where("ranks"), c.ranks, c.trainers,
                                 c.servers > 0
                                     ? fmt::format(", {} servers and the master", c.servers)
                                     : " that hold the tables",
                                 ranks));
  }
  c.ranks = ranks;
  check_table_sizes(c, where);
  check_placement(c, where);
  check_training(c, where);
  check_dense_strategy(c, where);
  check_table_memory(c, m, where);
}

}  // namespace paceline::cases
