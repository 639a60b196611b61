// SPDX-License-Identifier: Apache-2.0
// What models with embedding tables may be asked for.
#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/base/text.h"
#include "paceline/experiment/check.h"
#include "paceline/experiment/outside.h"
#include "paceline/plan/ranks_per_host.h"
#include "paceline/strategies/embedding_job.h"
#include "paceline/strategies/strategy.h"

namespace paceline::experiment {
namespace {

using records::Configuration;

// The ranks of a host that train, and those that serve tables.
struct HostShare {
  int trainers = 0, servers = 0;
};

// Hosts are filled in rank order; this machine stands for each of them.
std::vector<HostShare> shares_of_hosts(const Configuration& c,
                                       const Machine& m) {
  const std::vector<int> ranks =
      m.joined() ? plan::fill_hosts(c.ranks, m.ranks_per_host)
                 : std::vector<int>{c.ranks};
  std::vector<HostShare> shares;
  int first = 0;
  for (const int here : ranks) {
    const auto among = [&](int begin, int end) {
      return std::max(0, std::min(first + here, end) - std::max(first, begin));
    };
    const int trainers = among(0, c.trainers);
    shares.push_back(
        {.trainers = trainers,
         .servers = c.servers == 0
                        ? trainers
                        : among(c.trainers, c.trainers + c.servers)});
    first += here;
  }
  return shares;
}

// Numbers of a sample, of all tables.
double width_of(const Configuration& c) {
  return static_cast<double>(c.servers > 0 ? c.servers : c.trainers) *
         c.embedding_dim;
}

// Of a rank that holds as many rows as a table has.
double table_bytes(const Configuration& c) {
  const double number = c.row_dtype == "bf16" ? 2 : 4;
  const double state = c.row_optimizer == "adagrad" ? 4 : 0;
  const double gradient = c.row_gradients == "dense" ? 4 : 0;
  return (number + state + gradient) * c.embeddings * c.embedding_dim;
}

// What a trainer holds that is as wide as all tables: bags, the first layer of
// hybrid, which has 256 units, and the gradients of both.
double trainer_bytes(const Configuration& c) {
  const double samples =
      c.model == "hybrid"
          ? 256 + static_cast<double>(strategies::BagShape{}.most_bags())
          : c.batch_size;
  return 2 * 4 * samples * width_of(c);
}

void check_table_memory(const Configuration& c,
                        const Machine& m,
                        const Where& where) {
  const int tables = c.servers > 0 ? c.servers : c.trainers;
  const double held = c.placement == "replicated" ? tables : 1;
  HostShare fullest;
  double rows = 0, bytes = 0;
  for (const HostShare& host : shares_of_hosts(c, m)) {
    const double rows_here = host.servers * held * table_bytes(c);
    const double here = rows_here + host.trainers * trainer_bytes(c);
    if (here > bytes) {
      fullest = host;
      rows = rows_here;
      bytes = here;
    }
  }
  const auto memory = static_cast<double>(usable_memory_bytes());
  if (bytes > memory) {
    throw UsageError(fmt::format(
        "{}: {} of {} in {}{}: on one host {} and {} take {:.1f} GB, {:.1f} GB "
        "of it rows, and this machine has {:.1f} GB; take fewer or shorter "
        "rows",
        where(rows > memory ? "embeddings" : "embedding_dim"),
        counted(c.embeddings, "row"),
        counted(c.embedding_dim, "number"),
        counted(tables, "table"),
        c.placement == "replicated" ? ", on every server" : "",
        counted(fullest.servers, "server"),
        counted(fullest.trainers, "trainer"),
        bytes * 1e-9,
        rows * 1e-9,
        memory * 1e-9));
  }
  if (width_of(c) > std::numeric_limits<int>::max()) {
    throw UsageError(fmt::format(
        "{}: {} of {} in each row make {:.0f} numbers of a sample; at most {}",
        where("embedding_dim"),
        counted(tables, "table"),
        counted(c.embedding_dim, "number"),
        width_of(c),
        std::numeric_limits<int>::max()));
  }
}

void check_no_tables(const Configuration& c, const Where& where) {
  const Configuration usual;
  const auto refuse = [&](const char* key, bool given) {
    if (given) {
      throw UsageError(
          fmt::format("{}: model {} has no embedding tables; those that have "
                      "are hybrid, dlrm",
                      where(key),
                      c.model));
    }
  };
  refuse("trainers", c.trainers != usual.trainers);
  refuse("servers", c.servers != usual.servers);
  refuse("embeddings", c.embeddings != usual.embeddings);
  refuse("embedding_dim", c.embedding_dim != usual.embedding_dim);
  refuse("placement", c.placement != usual.placement);
  refuse("pooling", c.pooling != usual.pooling);
  refuse("row_optimizer", c.row_optimizer != usual.row_optimizer);
  refuse("row_dtype", c.row_dtype != usual.row_dtype);
  refuse("row_gradients", c.row_gradients != usual.row_gradients);
  refuse("lookup", c.lookup != usual.lookup);
  refuse("zipf", c.zipf != usual.zipf);
  refuse("staleness", c.staleness != usual.staleness);
  refuse("compat_relu", c.compat_relu != usual.compat_relu);
  refuse("sparse_engine", c.sparse_engine != usual.sparse_engine);
}

void check_dense_strategy(const Configuration& c, const Where& where) {
  const strategies::StrategySpec spec =
      strategies::parse_strategy(canonical_strategy(c, where));
  if (spec.external()) {
    throw UsageError(fmt::format(
        "{}: '{}' is a program outside, which knows no model with embedding "
        "tables",
        where(is_outside(c) ? "framework" : "strategy"),
        performer_of(c)));
  }
  if (spec.update.row != nullptr && spec.update.row->parameters) {
    throw UsageError(fmt::format(
        "{}: '{}' sends parameters, and beside embedding tables the gradients "
        "of the dense part cross; take an update rule that sends them, as "
        "gradients or zero-1",
        where("strategy"),
        c.strategy));
  }
  if (spec.exchange.row != nullptr && spec.exchange.row->name == "ps" &&
      spec.exchange.options.text("placement") == "apart") {
    throw UsageError(fmt::format(
        "{}: '{}' makes some of the {} trainers servers of the dense part, "
        "which all of them train beside embedding tables; take "
        "ps:placement=colocated",
        where("strategy"),
        c.strategy,
        c.trainers));
  }
}

void refuse(const std::string& origin, bool given, std::string_view why) {
  if (given) {
    throw UsageError(fmt::format("{}: {}", origin, why));
  }
}

void check_placement(const Configuration& c, const Where& where) {
  const auto why = strategies::why_not_placed(
      {.placement = strategies::table_placement(c.placement),
       .sequential = c.lookup == "sequential",
       .staleness = c.staleness,
       .colocated = c.servers == 0});
  refuse(where(c.staleness > 0 ? "staleness" : "lookup"), !why.empty(), why);
}

/// An engine of its own is another one.
void settle_sparse_engine(Configuration& c,
                          const Machine& m,
                          const Where& where) {
  if (c.sparse_engine == c.engine) {
    c.sparse_engine.clear();
  }
  if (!c.sparse_engine.empty() &&
      std::ranges::find(m.engines, c.sparse_engine) == m.engines.end()) {
    throw UsageError(fmt::format(
        "{}: {}", where("sparse_engine"), not_built_in(c.sparse_engine, m)));
  }
}

void check_training(const Configuration& c, const Where& where) {
  refuse(where("device"),
         c.device != "cpu",
         "embedding rows are looked up and pooled on the CPU; take cpu");
  refuse(where("accumulate"),
         c.accumulate > 1,
         "embedding tables are looked up once a step; leave it out");
  refuse(where("clip_norm"),
         c.clip_norm > 0,
         "the norm of all gradients needs those of embedding rows, which "
         "servers apply one by one; leave it out");
  refuse(where("dtype"),
         c.dtype != "fp32",
         "embedding rows and what takes them are fp32; take fp32");
  if (c.batch_size != Configuration{}.batch_size) {
    check_batch(c.model, where("batch_size"));
  }
  refuse(where("compat_relu"),
         c.model != "hybrid" && c.compat_relu,
         "of the model hybrid; leave it out");
  refuse(where("link"),
         !c.link.empty(),
         "an emulated link cannot tell the true length of a lookup that "
         "arrives; leave it out");
}

}  // namespace

void check_batch(const std::string& model, const std::string& origin) {
  refuse(origin,
         model == "hybrid",
         "a step of hybrid has as many bags as 20 to 50 ids make; leave it "
         "out, or take dlrm");
}

void check_tables(Configuration& c, const Machine& m, const Where& where) {
  if (!c.has_tables()) {
    check_no_tables(c, where);
    return;
  }
  const int ranks = c.servers > 0 ? c.trainers + c.servers + 1 : c.trainers;
  if (c.ranks != ranks && c.ranks != std::max(1, m.world())) {
    throw UsageError(fmt::format(
        "{}: '{}', but {} trainers{} are {} ranks; leave it out",
        where("ranks"),
        c.ranks,
        c.trainers,
        c.servers > 0 ? fmt::format(", {} servers and the master", c.servers)
                      : " that hold the tables",
        ranks));
  }
  c.ranks = ranks;
  check_table_memory(c, m, where);
  check_placement(c, where);
  check_training(c, where);
  settle_sparse_engine(c, m, where);
  check_dense_strategy(c, where);
}

}  // namespace paceline::experiment
