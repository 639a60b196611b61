// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "paceline/strategies/plan_words.h"

// Embedding tables on servers that trainers look up: sizes, and the server and index of each row.
// strategies/sharded_embeddings.h writes the communication.

namespace paceline::strategies {

/// How rows are assigned to servers.
enum class TablePlacement : std::uint8_t {
  kTable,      // whole tables are assigned to the servers in turn
  kRowHash,    // the rows of every table are assigned by a hash of the id
  kRowRange,   // every table is cut into id ranges of equal length
  kReplicated  // every server has all rows; trainer t asks server t mod servers
};

/// The names of the placements, in the order of the enumerators.
inline constexpr std::array<std::string_view, 4> kTablePlacements{"table", "row-hash", "row-range",
                                                                  "replicated"};

/// How a server applies the mean gradient of a row.
enum class RowRule : std::uint8_t {
  kSgd,            // w -= lr g
  kAdagrad,        // s += g^2; w -= lr g / (sqrt(s) + 1e-10)
  kRowwiseAdagrad  // as kAdagrad, with one s per row that adds the mean of g^2
};

/// The names of the rules, in the order of the enumerators.
inline constexpr std::array<std::string_view, 3> kRowRules{"sgd", "adagrad", "rowwise-adagrad"};

/// The lookups of a trainer in a step.  The number of ids per table is drawn from `fewest` to
/// `most`.  They are divided into bags of `shortest_bag` to `longest_bag` ids; the last bag has the
/// ids that are left.
struct BagShape {
  Elements fewest = 20, most = 50;
  Elements shortest_bag = 1, longest_bag = 10;
  bool shared = true;  // all tables look up the same ids
  double zipf = 0;     // exponent: id k is drawn in proportion to 1 / (k + 1)^zipf; 0: uniformly
  Elements ids = 0;    // number of ids that are drawn from; 0: all rows of a table

  /// The largest number of bags into which `most` lookups can be divided.
  Elements most_bags() const { return (most + shortest_bag - 1) / shortest_bag; }
};

/// Tables of equal sizes and the ranks that use them.  Ranks 0 .. trainers-1 train; the servers
/// follow; the last rank is the master, whose plan is empty.  If `colocated`, the trainers are the
/// servers and there are no other ranks.
struct EmbeddingJob {
  Rank trainers = 1, servers = 1;
  int tables = 1;
  Elements rows = 300, dim = 64;  // of each table
  TablePlacement placement = TablePlacement::kTable;
  bool mean = false;        // a bag is the mean of its rows; else their sum
  bool sequential = false;  // a trainer asks a server only after the previous one has answered
  BagShape bags{};
  RowRule rule = RowRule::kSgd;
  bool bf16_rows = false;  // rows are held and sent as bf16; else in the model's type
  /// A server adds up the gradients in a buffer as large as its rows and applies the rule to all
  /// rows.  The communication stays the same.
  bool dense_gradients = false;
  bool integers = false;  // the start values of rows are -1, 0 or 1
  /// The number of newest steps whose updates a lookup may miss.  With 0, a server applies the
  /// gradients of all trainers of a step together.
  Step staleness = 0;

  bool colocated = false;  // every trainer is a server too, and there are no other ranks

  Rank ranks() const { return colocated ? trainers : trainers + servers + 1; }
  Rank first_server() const { return colocated ? 0 : trainers; }
  /// The number of values that the optimizer keeps for each row.
  Elements optimizer_values_per_row() const {
    return rule == RowRule::kSgd ? 0 : rule == RowRule::kAdagrad ? dim : 1;
  }
  Elements width() const { return tables * dim; }  // of one example's pooled values
};

/// Returns one sentence that says why this placement does not allow the lookups that the job asks
/// for; empty if it does. Sizes are not checked.
std::string_view placement_conflict_message(const EmbeddingJob& job);

/// Throws UsageError for sizes or a placement that make no valid job.
void check_job(const EmbeddingJob& job);

/// Encodes the job and `rank` as the numeric arguments of a kernel; decode_job() decodes them.
std::vector<double> encode_job(const EmbeddingJob& job, Rank rank);

struct JobOfRank {
  EmbeddingJob job{};
  Rank rank = 0;
};
JobOfRank decode_job(std::span<const double> numbers);

/// The location of a row: its server, and its index among the server's rows.
struct RowLocation {
  Rank server = 0;  // index among the servers, from 0
  Elements row = 0;
};

/// Computes on which server, and where there, each row of the tables lies.
class TableMap {
 public:
  explicit TableMap(const EmbeddingJob& job);

  /// The number of rows that `server` holds, over all tables.
  Elements row_count_of(Rank server) const;

  /// The location at which `trainer` finds a row.  Throws UsageError that names trainer, table and
  /// id if the table has no such row.
  RowLocation find(int table, Elements id, Rank trainer) const;

  /// The largest number of distinct rows that a trainer can request from one server in a step.
  Elements most_rows_per_server() const;

  /// For each server, the average number of distinct rows that a trainer requests from it in a
  /// step, rounded up.
  std::vector<Elements> expected_rows_per_server() const;

 private:
  Elements rows_of_table(Rank server) const;  // only for placements that cut tables
  double distinct(double share) const;
  std::vector<double> expected_distinct_rows_by_server() const;

  EmbeddingJob job_;
  Elements range_ = 1;       // kRowRange: ids per server; the last may have fewer
  Elements multiplier_ = 1;  // kRowHash: coprime to the number of rows
};

/// The rule or the placement of this name.  Throws UsageError, which lists the known names, for any
/// other name.
RowRule row_rule(std::string_view word);
TablePlacement table_placement(std::string_view word);

inline std::string_view name_of(RowRule rule) { return kRowRules[static_cast<std::size_t>(rule)]; }
inline std::string_view name_of(TablePlacement placement) {
  return kTablePlacements[static_cast<std::size_t>(placement)];
}

}  // namespace paceline::strategies
