// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/embedding_job.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"

namespace paceline::strategies {
namespace {

template <class Enumeration>
Enumeration enumerator_named(std::string_view word, std::span<const std::string_view> names,
                             std::string_view what) {
  const auto found = std::ranges::find(names, word);
  if (found == names.end()) {
    throw UsageError(fmt::format("{} '{}'; known are {}", what, word, fmt::join(names, ", ")));
  }
  return static_cast<Enumeration>(found - names.begin());
}

/// A multiplier for Knuth's multiplicative hash, The Art of Computer Programming 6.4.  The hash is
/// a permutation of 0 .. rows-1, because the multiplier is coprime to `rows`.
Elements coprime_multiplier(Elements rows) {
  Elements multiplier = 2'654'435'761 % rows;
  while (std::gcd(multiplier, rows) != 1) {
    ++multiplier;
  }
  return multiplier;
}

Elements permuted(Elements id, Elements multiplier, Elements rows) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<Elements>(static_cast<Wide>(id) * static_cast<Wide>(multiplier) %
                               static_cast<Wide>(rows));
}

/// The number of integers in 0 .. count-1 that leave `remainder` when divided by `divisor`.
Elements count_with_remainder(Elements count, Elements divisor, Elements remainder) {
  return (count - remainder + divisor - 1) / divisor;
}

/// The number of most frequent ids whose weights are summed one by one.
constexpr Elements kExactIds = 1 << 14;

/// Calls `visit(first id, number of ids, mean weight)` for blocks of ids with Zipf weights, in
/// ascending order.  Each block after the first kExactIds ids has 1/512 of the number of ids before
/// it, lies in one range, and counts with the weight of its middle.  The midpoint rule is off by a
/// 512^-2 / 24 th of x^2 f''(x), which is s (s + 1) times f(x) for f = x^-s.
template <class Visit>
void visit_id_blocks(const EmbeddingJob& job, Elements range, const Visit& visit) {
  for (Elements first = 0; first < job.rows;) {
    const Elements end =
        first < kExactIds ? first + 1
                          : std::min({first + first / 512, (first / range + 1) * range, job.rows});
    const auto ids = static_cast<double>(end - first);
    visit(first, ids, std::pow(static_cast<double>(first) + (ids + 1) / 2, -job.bags.zipf));
    first = end;
  }
}

/// References to every field of a job, in the order in which encode_job() writes them.
auto fields_of(auto& job) {
  auto& bags = job.bags;
  return std::tie(job.trainers, job.servers, job.tables, job.rows, job.dim, job.placement, job.mean,
                  job.sequential, bags.fewest, bags.most, bags.shortest_bag, bags.longest_bag,
                  bags.shared, bags.zipf, bags.ids, job.rule, job.bf16_rows, job.integers,
                  job.staleness, job.colocated, job.dense_gradients);
}

}  // namespace

std::string_view placement_conflict_message(const EmbeddingJob& job) {
  if (job.colocated && job.staleness > 0) {
    return "trainers that hold the tables exchange rows in every step, and no lookup misses an "
           "update; leave staleness out, or take servers";
  }
  if (job.colocated && job.sequential) {
    return "trainers that hold the tables exchange rows all-to-all, not one after the other; leave "
           "as_original out, or take servers";
  }
  if (job.placement == TablePlacement::kReplicated && job.staleness > 0) {
    return "replicas that apply gradients as they come drift apart; leave staleness out, or take "
           "another placement";
  }
  return {};
}

void check_job(const EmbeddingJob& job) {
  const auto positive = [](const char* what, Elements value) {
    if (value < 1) {
      throw UsageError(fmt::format("embedding tables: {} is {}; at least 1", what, value));
    }
  };
  positive("the number of trainers", job.trainers);
  positive("the number of servers", job.servers);
  positive("the number of tables", job.tables);
  positive("the number of rows", job.rows);
  positive("the dimension", job.dim);
  positive("the least number of lookups", job.bags.fewest);
  positive("the shortest bag", job.bags.shortest_bag);
  PACELINE_CHECK(!job.colocated || job.servers == job.trainers);
  if (const auto why = placement_conflict_message(job); !why.empty()) {
    throw UsageError(fmt::format("embedding tables: {}", why));
  }
  if (job.bags.most < job.bags.fewest || job.bags.longest_bag < job.bags.shortest_bag) {
    throw UsageError(
        fmt::format("embedding tables: {} to {} lookups in bags of {} to {}: the first of each is "
                    "the larger one",
                    job.bags.fewest, job.bags.most, job.bags.shortest_bag, job.bags.longest_bag));
  }
}

std::vector<double> encode_job(const EmbeddingJob& job, Rank rank) {
  return std::apply(
      [&](const auto&... field) {
        return std::vector<double>{static_cast<double>(rank), static_cast<double>(field)...};
      },
      fields_of(job));
}

JobOfRank decode_job(std::span<const double> numbers) {
  JobOfRank result{.rank = static_cast<Rank>(numbers[0])};
  std::size_t next = 1;
  const auto read = [&]<class Field>(Field& field) { field = static_cast<Field>(numbers[next++]); };
  std::apply([&](auto&... field) { (read(field), ...); }, fields_of(result.job));
  PACELINE_CHECK_EQ(next, numbers.size());
  return result;
}

TableMap::TableMap(const EmbeddingJob& job)
    : job_(job),
      range_((job.rows + job.servers - 1) / job.servers),
      multiplier_(coprime_multiplier(job.rows)) {}

Elements TableMap::rows_of_table(Rank server) const {
  if (job_.placement == TablePlacement::kRowHash) {
    return server < job_.rows ? count_with_remainder(job_.rows, job_.servers, server) : 0;
  }
  return std::clamp(job_.rows - server * range_, Elements{0}, range_);
}

Elements TableMap::row_count_of(Rank server) const {
  switch (job_.placement) {
    case TablePlacement::kTable:
      return server < job_.tables
                 ? count_with_remainder(job_.tables, job_.servers, server) * job_.rows
                 : 0;
    case TablePlacement::kReplicated:
      return job_.tables * job_.rows;
    case TablePlacement::kRowHash:
    case TablePlacement::kRowRange:
      return job_.tables * rows_of_table(server);
  }
  return 0;
}

RowLocation TableMap::find(int table, Elements id, Rank trainer) const {
  if (id < 0 || id >= job_.rows) {
    throw UsageError(fmt::format("trainer {} looks up id {} of table {}, whose ids are 0 to {}",
                                 trainer, id, table, job_.rows - 1));
  }
  switch (job_.placement) {
    case TablePlacement::kTable:
      return {table % job_.servers, table / job_.servers * job_.rows + id};
    case TablePlacement::kReplicated:
      return {trainer % job_.servers, table * job_.rows + id};
    case TablePlacement::kRowHash: {
      const Elements place = permuted(id, multiplier_, job_.rows);
      const auto server = static_cast<Rank>(place % job_.servers);
      return {server, table * rows_of_table(server) + place / job_.servers};
    }
    case TablePlacement::kRowRange: {
      const auto server = static_cast<Rank>(id / range_);
      return {server, table * rows_of_table(server) + id % range_};
    }
  }
  return {};
}

Elements TableMap::most_rows_per_server() const {
  const bool whole = job_.placement == TablePlacement::kTable;
  const Elements tables = whole ? (job_.tables + job_.servers - 1) / job_.servers : job_.tables;
  Elements most = 0;
  for (Rank server = 0; server < job_.servers; ++server) {
    most = std::max(most, std::min(row_count_of(server), tables * job_.bags.most));
  }
  return most;
}

/// Returns the probability that a step looks up a given id at least once, if each lookup draws this
/// id with probability `share`: the mean of 1 - (1 - share)^n over the possible numbers n of
/// lookups.
double TableMap::distinct(double share) const {
  if (share >= 1) {
    return 1;
  }
  const double none = std::log1p(-share);
  const auto numbers = static_cast<double>(job_.bags.most - job_.bags.fewest + 1);
  const auto most = static_cast<double>(job_.bags.most);
  if (share * most < 1e-4) {  // series of two terms; 1 - (1 - share)^n would lose digits
    const double n = (static_cast<double>(job_.bags.fewest) + most) / 2;
    const double squares = n * n + (numbers * numbers - 1) / 12;
    return share * (n - share * (squares - n) / 2);
  }
  return 1 + std::exp(static_cast<double>(job_.bags.fewest) * none) * std::expm1(numbers * none) /
                 (share * numbers);
}

/// The expected number of distinct rows of one table that a step looks up, by the server that would
/// have them if the table were cut.  For an exponent of up to 2, the blocks of visit_id_blocks()
/// give it within 1e-6 of the exact sum, or within 1e-4 with a hash, which is assumed to spread the
/// ids evenly.
std::vector<double> TableMap::expected_distinct_rows_by_server() const {
  std::vector<double> all(static_cast<std::size_t>(job_.servers));
  if (job_.bags.zipf == 0) {
    const double of_id = distinct(1 / static_cast<double>(job_.rows));
    for (Rank server = 0; server < job_.servers; ++server) {
      all[static_cast<std::size_t>(server)] = static_cast<double>(rows_of_table(server)) * of_id;
    }
    return all;
  }
  double sum = 0;
  visit_id_blocks(job_, range_, [&](Elements, double ids, double weight) { sum += ids * weight; });
  const bool hashed = job_.placement == TablePlacement::kRowHash;
  double spread = 0;  // distinct rows among the ids that a hash spreads evenly
  std::vector<Elements> dealt(all.size());
  visit_id_blocks(job_, range_, [&](Elements first, double ids, double weight) {
    const double wanted = ids * distinct(weight / sum);
    if (hashed && first >= kExactIds) {
      spread += wanted;
      return;
    }
    const auto server = static_cast<std::size_t>(find(0, first, 0).server);
    all[server] += wanted;
    ++dealt[server];
  });
  for (Rank server = 0; spread > 0 && server < job_.servers; ++server) {
    const auto s = static_cast<std::size_t>(server);
    all[s] += spread * static_cast<double>(rows_of_table(server) - dealt[s]) /
              static_cast<double>(job_.rows - kExactIds);
  }
  return all;
}

std::vector<Elements> TableMap::expected_rows_per_server() const {
  const std::vector<double> cut = expected_distinct_rows_by_server();
  const double whole = std::reduce(cut.begin(), cut.end());
  std::vector<Elements> wanted;
  for (Rank server = 0; server < job_.servers; ++server) {
    double rows = job_.tables * cut[static_cast<std::size_t>(server)];
    if (job_.placement == TablePlacement::kTable) {
      rows = whole * static_cast<double>(row_count_of(server)) / static_cast<double>(job_.rows);
    } else if (job_.placement == TablePlacement::kReplicated) {
      rows = whole * job_.tables;
    }
    wanted.push_back(
        std::min(most_rows_per_server(), static_cast<Elements>(std::ceil(rows - 1e-9))));
  }
  return wanted;
}

RowRule row_rule(std::string_view word) {
  return enumerator_named<RowRule>(word, kRowRules, "row optimizer");
}

TablePlacement table_placement(std::string_view word) {
  return enumerator_named<TablePlacement>(word, kTablePlacements, "placement");
}

}  // namespace paceline::strategies
