// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "paceline/strategies/plan_words.h"

// Embedding tables on servers, looked up by trainers: sizes, and which row lies where.
// strategies/sharded_embeddings.h writes what crosses.

namespace paceline::strategies {

/// Which server has a row.
enum class TablePlacement : std::uint8_t {
  kTable,      // tables are dealt out in turn, each whole
  kRowHash,    // every table is cut by a hash of the id
  kRowRange,   // every table is cut into ranges of equal length
  kReplicated  // every server has all rows, and serves every so many trainers
};

/// How a server applies the mean gradient of a row.
enum class RowRule : std::uint8_t {
  kSgd,            // w -= lr g
  kAdagrad,        // s += g^2; w -= lr g / (sqrt(s) + 1e-10)
  kRowwiseAdagrad  // kAdagrad with one s a row, which takes the mean of g^2
};

/// What a trainer looks up in a step: in each table bags of `shortest_bag` to
/// `longest_bag` ids, the last one as many as are left of all ids, whose number
/// is drawn from `fewest` to `most`.
struct BagShape {
  Elements fewest = 20, most = 50;
  Elements shortest_bag = 1, longest_bag = 10;
  bool shared = true;  // all tables look up equal ids
  double zipf = 0;     // exponent: id k as often as 1 / (k + 1)^zipf; 0: equally
  Elements ids = 0;    // that are drawn from; 0: as many as a table has

  /// Bags that `most` lookups can make.
  Elements most_bags() const { return (most + shortest_bag - 1) / shortest_bag; }
};

/// Tables of equal sizes, and who looks them up: ranks 0 .. trainers-1 train, then come the
/// servers, last the master, whose plan is empty.  Where the trainers are the servers, they are all
/// ranks.
struct EmbeddingJob {
  Rank trainers = 1, servers = 1;
  int tables = 1;
  Elements rows = 300, dim = 64;  // of a table
  TablePlacement placement = TablePlacement::kTable;
  bool mean = false;        // a bag is the mean of its rows, not their sum
  bool sequential = false;  // one server is asked after the other's answer
  BagShape bags{};
  RowRule rule = RowRule::kSgd;
  bool bf16_rows = false;  // held and sent as bf16; else as the model's type
  /// A server adds the gradients up in a buffer as large as its rows, and applies the rule to all
  /// of these.  What crosses stays the same.
  bool dense_gradients = false;
  bool integers = false;  // the rows start as -1, 0 or 1
  /// The newest steps whose updates a lookup may miss; with none, the trainers' gradients of a step
  /// are applied together.
  Step staleness = 0;

  bool colocated = false;  // every trainer is a server too, and no rank else

  Rank ranks() const { return colocated ? trainers : trainers + servers + 1; }
  Rank first_server() const { return colocated ? 0 : trainers; }
  /// Numbers that a row has beside its own.
  Elements state_of_row() const {
    return rule == RowRule::kSgd ? 0 : rule == RowRule::kAdagrad ? dim : 1;
  }
  Elements width() const { return tables * dim; }  // of a sample, all tables
};

/// Why tables that are placed so cannot be looked up so: one sentence; empty: they can.  Sizes are
/// not looked at.
std::string_view why_not_placed(const EmbeddingJob& job);

/// Throws UsageError, one sentence, for what makes no job.
void check_job(const EmbeddingJob& job);

/// The job, and which of its ranks this is, as the numbers of a kernel.
std::vector<double> numbers_of(const EmbeddingJob& job, Rank rank);

struct JobOfRank {
  EmbeddingJob job{};
  Rank rank = 0;
};
JobOfRank job_of(std::span<const double> numbers);

/// A row among those of its server, which lie one after the other.
struct RowPlace {
  Rank server = 0;  // counted from 0
  Elements row = 0;
};

/// A row as its table names it.
struct TableRow {
  int table = 0;
  Elements id = 0;
};

/// Which server has which row.
class TableMap {
 public:
  explicit TableMap(const EmbeddingJob& job);

  /// The number of rows that `server` has of all tables together.
  Elements rows_of(Rank server) const;

  /// Where `trainer` finds a row.  Throws UsageError that names trainer, table and id where the
  /// table has no such row.
  RowPlace find(int table, Elements id, Rank trainer) const;

  /// What lies at `row`, one of rows_of(server): find() the other way round.
  TableRow at(Rank server, Elements row) const;

  /// The most distinct rows that one step of a trainer wants of a server.
  Elements most_wanted() const;

  /// As many as it wants of each server on average over steps, rounded up.
  std::vector<Elements> typically_wanted() const;

 private:
  Elements rows_of_table(Rank server) const;  // where tables are cut
  double distinct(double share) const;
  std::vector<double> distinct_by_server() const;
  Rank server_of(Elements id) const;  // where tables are cut

  EmbeddingJob job_;
  Elements range_ = 1;       // kRowRange: ids of a server, but for the last
  Elements multiplier_ = 1;  // kRowHash: coprime to the rows
  Elements inverse_ = 0;     // of the multiplier, modulo the rows
};

/// "sgd", "adagrad", "rowwise-adagrad".
RowRule row_rule(std::string_view word);
std::string_view name_of(RowRule rule);

/// "table", "row-hash", "row-range", "replicated".
TablePlacement table_placement(std::string_view word);
std::string_view name_of(TablePlacement placement);

}  // namespace paceline::strategies
