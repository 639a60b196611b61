// SPDX-License-Identifier: Apache-2.0
// Checks of cases whose models have embedding tables.
#include <algorithm>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/check.h"
#include "paceline/case/outside.h"
#include "paceline/case/same.h"
#include "paceline/strategies/embedding_job.h"
#include "paceline/strategies/strategy.h"

namespace paceline::cases {
namespace {

// Returns how many numbers one sample receives from the embedding tables: one row of each table.
double values_per_sample(const Case& c) {
  return static_cast<double>(c.servers > 0 ? c.servers : c.trainers) * c.embedding_dim;
}

// Throws UsageError if the values per sample do not fit an int, or all tables have more than 1e15
// values.
void check_table_sizes(const Case& c, const Where& where) {
  constexpr double kMostNumbers = 1e15;
  const int tables = c.servers > 0 ? c.servers : c.trainers;
  const double numbers = values_per_sample(c) * c.embeddings;
  where.reject_if(values_per_sample(c) > std::numeric_limits<int>::max(), "embedding_dim",
                  "{} of {} in each row make {:.0f} numbers of a sample; at most {}",
                  counted(tables, "table"), counted(c.embedding_dim, "number"),
                  values_per_sample(c), std::numeric_limits<int>::max());
  where.reject_if(numbers > kMostNumbers, "embeddings",
                  "{} of {} in {} are {:.1e} numbers; at most {:.0e}", counted(c.embeddings, "row"),
                  counted(c.embedding_dim, "number"), counted(tables, "table"), numbers,
                  kMostNumbers);
}

void check_no_tables(const Case& c, const Where& where) {
  if (const Field* key = difference_in(c, Case{}, {Part::kTables})) {
    where.reject(key->name, "model {} has no embedding tables; those that have are hybrid, dlrm",
                 c.model);
  }
}

void check_dense_strategy(const Case& c, const Where& where) {
  const strategies::StrategySpec spec = strategies::parse_strategy(canonical_strategy(c, where));
  const char* const key = !c.command.empty()         ? "command"
                          : runs_external_program(c) ? "framework"
                                                     : "strategy";
  where.reject_if(spec.external() || runs_external_program(c), key,
                  "'{}' is an external program, which knows no model with embedding tables",
                  c.command.empty() ? runner_name_of(c) : c.command);
  where.reject_if(spec.update.row != nullptr && spec.update.row->parameters, "strategy",
                  "'{}' sends parameters, and beside embedding tables the gradients of the dense "
                  "part cross; take an update rule that sends them, as gradients or zero-1",
                  c.strategy);
  // With placement=apart, some of the trainers become parameter servers and do not train.
  const std::string* const placement = spec.exchange.options.find("placement");
  if (placement != nullptr && *placement == "apart") {
    where.reject("strategy",
                 "'{}' makes some of the {} trainers servers of the dense part, which all of them "
                 "train beside embedding tables; take {}:placement=colocated",
                 c.strategy, c.trainers, spec.exchange.row->name);
  }
}

void check_placement(const Case& c, const Where& where) {
  const auto why =
      strategies::placement_conflict_message({.placement = strategies::table_placement(c.placement),
                                              .sequential = c.as_original,
                                              .staleness = c.staleness,
                                              .colocated = c.servers == 0});
  where.reject_if(!why.empty(), c.staleness > 0 ? "staleness" : "as_original", "{}", why);
}

void check_training(const Case& c, const Where& where) {
  where.reject_if(c.device != "cpu", "device",
                  "embedding rows are looked up and pooled on the CPU; take cpu");
  where.reject_if(c.accumulate > 1, "accumulate",
                  "embedding tables are looked up once a step; leave it out");
  where.reject_if(c.clip_norm > 0, "clip_norm",
                  "the norm of all gradients needs those of embedding rows, which servers apply "
                  "one by one; leave it out");
  where.reject_if(c.dtype != "fp32", "dtype",
                  "embedding rows and what takes them are fp32; take fp32");
  if (c.batch_size != Case{}.batch_size) {
    check_batch(c.model, where("batch_size"));
  }
  where.reject_if(c.model != "hybrid" && c.as_original, "as_original",
                  "dlrm has no original; leave it out");
  where.reject_if(
      !c.link.empty(), "link",
      "an emulated link cannot tell the true length of a lookup that arrives; leave it out");
}

}  // namespace

void check_batch(const std::string& model, const std::string& origin) {
  if (model == "hybrid") {
    throw UsageError(
        origin +
        ": a step of hybrid has as many bags as 20 to 50 ids make; leave it out, or take dlrm");
  }
}

void check_tables(Case& c, const MachineFacts& m, const Where& where) {
  if (!c.has_tables()) {
    check_no_tables(c, where);
    return;
  }
  const int ranks = c.servers > 0 ? c.trainers + c.servers + 1 : c.trainers;
  where.reject_if(c.ranks != ranks && c.ranks != std::max(1, m.world()), "ranks",
                  "'{}', but {} trainers{} are {} ranks; leave it out", c.ranks, c.trainers,
                  c.servers > 0 ? fmt::format(", {} servers and the master", c.servers)
                                : " that hold the tables",
                  ranks);
  c.ranks = ranks;
  check_table_sizes(c, where);
  check_placement(c, where);
  check_training(c, where);
  check_dense_strategy(c, where);
}

}  // namespace paceline::cases
