// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/sharded_embeddings.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/program.h"
#include "paceline/strategies/dense_part.h"
#include "paceline/strategies/embedding_buffers.h"

namespace paceline::strategies {
namespace {

constexpr auto kLookups = "lookups";  // name of the communicator

class ShardedEmbeddings final : public Planner {
 public:
  ShardedEmbeddings(const EmbeddingJob& job, std::unique_ptr<Planner> dense, RowExchange rows)
      : job_(job), table_map_(job), dense_(std::move(dense)), rows_(rows) {
    check_job(job);
  }

  Setup setup(const PlanInput& input) const override {
    check_world(input);
    const PlanInput dense = dense_input(input);
    if (dense_->training_ranks(dense) < dense.world) {
      throw UsageError(
          fmt::format("all {} trainers train the dense part beside embedding tables, and its "
                      "strategy makes {} of them servers; take ps:placement=colocated",
                      dense.world, dense.world - dense_->training_ranks(dense)));
    }
    Setup setup = dense_->setup(dense);
    if (!trains(input)) {
      for (Communicator& group : setup.communicators) {
        group.members = {};
      }
    }
    self(input).add_buffers(input.model.dtype, setup);
    if (rows_ == RowExchange::kServed) {
      const Rank members = job_.first_server() + job_.servers;
      setup.communicators.push_back({.name = kLookups,
                                     .members = Members::spaced(0, members),
                                     .order = IssueOrder::kPriority});
      if (input.rank >= members) {
        setup.communicators.back().members = {};
      }
    }
    return setup;
  }

  /// Variant 0 is the first step, which also draws the rows.
  Variant variant(const PlanInput& input, Step step) const override {
    return step == 0 ? 0 : 1 + dense_->variant(dense_input(input), step);
  }
  Step period(const PlanInput& input) const override {
    return 1 + dense_->period(dense_input(input));
  }

  CommPlan plan(const PlanInput& input, const Setup& setup, Variant variant) const override {
    Program program(input, setup, {.trains = trains(input)});
    if (trains(input)) {
      train(program, variant);
    } else if (self(input).serves()) {
      append_server_work(program, variant);
    }
    return std::move(program).finish();
  }

  Rank training_ranks(const PlanInput& input) const override {
    return std::min(input.world, job_.trainers);
  }

  std::string remark(const PlanInput& input) const override {
    return dense_->remark(dense_input(input));
  }

 private:
  bool trains(const PlanInput& input) const { return input.rank < job_.trainers; }
  EmbeddingRank self(const PlanInput& input) const {
    return {job_, input.rank, rows_ == RowExchange::kServed};
  }
  bool holds_rows(Rank server) const { return table_map_.row_count_of(server) > 0; }

  void check_world(const PlanInput& input) const {
    if (rows_ == RowExchange::kServed && input.world != job_.ranks()) {
      throw UsageError(fmt::format(
          "{} are {} ranks, and there are {}",
          job_.colocated
              ? fmt::format("{} trainers with tables", job_.trainers)
              : fmt::format("{} trainers, {} servers and the master", job_.trainers, job_.servers),
          job_.ranks(), input.world));
    }
    if (input.micro_batches > 1 || input.loss_scaling) {
      throw UsageError(
          "embedding tables are looked up once a step, and their gradients are not scaled: leave "
          "out --accumulate and --dtype amp");
    }
  }

  /// The input for the planner of the dense part.  Ranks that do not train use that of the first
  /// trainer.
  PlanInput dense_input(const PlanInput& input) const {
    PlanInput dense = input;
    const DensePart parts = dense_part_of(input.model);
    dense.model = parts.dense;
    dense.world = training_ranks(input);
    dense.rank = trains(input) ? input.rank : 0;
    dense.local_world = fill_hosts(dense.world, input.local_world.sizes());
    if (dense.profile) {
      LayerProfile& profile = *dense.profile;
      profile.forward.erase(profile.forward.begin() + static_cast<std::ptrdiff_t>(parts.module));
      profile.backward.pop_back();
    }
    if (dense.alpha_beta) {
      dense.alpha_beta->world = dense.world;
    }
    return dense;
  }

  static Slice all(const Program& program, std::string_view name) {
    return whole(program.setup(), name);
  }

  Rank rank_of(Rank server) const { return job_.first_server() + server; }

  bool replicated() const { return job_.placement == TablePlacement::kReplicated; }

  /// Whether this server sends rows to this trainer; with replicas, each trainer asks only one
  /// server.
  bool answers(Rank server, Rank trainer) const {
    return holds_rows(server) && (!replicated() || server == trainer % job_.servers);
  }

  /// Returns the servers that hold rows, without the trainer itself. With `answering`, returns only
  /// those that answer the trainer's lookups.
  std::vector<Rank> servers_of(Rank trainer, bool answering) const {
    std::vector<Rank> servers;
    for (Rank server = 0; server < job_.servers; ++server) {
      if (rank_of(server) != trainer &&
          (answering ? answers(server, trainer) : holds_rows(server))) {
        servers.push_back(server);
      }
    }
    return servers;
  }

  /// The messages of a trainer to or from `servers`.  All replicas of the rows get the same slice,
  /// that of the replica which answers the lookups.
  std::vector<Message> messages(const Program& program, const BufferPair& what,
                                const std::vector<Rank>& servers) const {
    const Rank rank = program.input().rank;
    const EmbeddingRank me = self(program.input());
    std::vector<Message> all;
    for (const Rank server : servers) {
      const Rank slice = replicated() ? rank % job_.servers : server;
      all.push_back({rank_of(server), me.slice_for_server(program.setup(), what, slice)});
    }
    return all;
  }

  void train(Program& program, Variant variant) const {
    const PlanInput& input = program.input();
    const auto numbers = encode_job(job_, input.rank);
    program.kernel(
        "deduplicate", {},
        {{all(program, kLookupIds)}, {all(program, kLookupIndex)}, {all(program, kBagOffsets)}},
        numbers);
    if (rows_ == RowExchange::kServed) {
      job_.colocated ? exchange_rows(program, variant) : append_lookups(program);
    }
    program.kernel(
        "pool",
        {{all(program, kLookupRows)}, {all(program, kLookupIndex)}, {all(program, kBagOffsets)}},
        {{all(program, kPooled)}}, numbers);
    const PlanInput dense = dense_input(input);
    const Variant of_dense = variant == 0 ? dense_->variant(dense, 0) : variant - 1;
    const DensePart parts = dense_part_of(input.model);
    ProgramJoiner(program, input.model, parts)
        .append(dense_->plan(dense, program.setup(), of_dense), [&] {
          program.kernel("pool_gradient",
                         {{all(program, kPooledGradients)},
                          {all(program, kLookupIds)},
                          {all(program, kLookupIndex)},
                          {all(program, kBagOffsets)}},
                         {{all(program, kLookupGradients)}}, numbers);
          if (rows_ == RowExchange::kServed) {
            job_.colocated ? swap_gradients(program) : push(program);
          }
        });
  }

  /// Appends the lookups on all servers at once, or on one server after the other.
  void append_lookups(Program& program) const {
    const auto on = communicator_named(program.setup(), kLookups);
    const Rank me = program.input().rank;
    const std::vector<Rank> holding = servers_of(me, false);
    if (!job_.sequential) {
      program.exchange(on, messages(program, kIds, holding), {});
      program.exchange(on, {}, messages(program, kRows, servers_of(me, true)));
      return;
    }
    std::optional<OpIndex> answered;
    for (const Rank server : holding) {
      const OpIndex question = program.exchange(on, messages(program, kIds, {server}), {});
      if (answered) {
        program.after(question, *answered);
      }
      if (answers(server, me)) {
        answered = program.exchange(on, {}, messages(program, kRows, {server}));
      }
    }
  }

  void push(Program& program) const {
    program.exchange(communicator_named(program.setup(), kLookups),
                     messages(program, kRowGradients, servers_of(program.input().rank, false)), {});
  }

  /// Returns the messages of a server to or from all other trainers; with `answering`, only to or
  /// from those whose lookups it answers.
  std::vector<Message> served_messages(const Program& program, const BufferPair& what,
                                       bool answering) const {
    const EmbeddingRank me = self(program.input());
    std::vector<Message> all;
    for (Rank trainer = 0; me.serves() && trainer < job_.trainers; ++trainer) {
      if (trainer != program.input().rank && (!answering || answers(me.server(), trainer))) {
        all.push_back({trainer, me.slice_for_trainer(program.setup(), what, trainer)});
      }
    }
    return all;
  }

  /// The access to the rows of the tables; in the first step it also appends the kernel that draws
  /// them.
  Access table(Program& program, Variant variant) const {
    const Access rows{all(program, kTableRows), slack_in(variant)};
    if (variant == 0) {
      program.kernel("draw_rows", {}, {rows}, encode_job(job_, self(program.input()).server()));
    }
    return rows;
  }

  void look_up_for(Program& program, const Access& table, Rank trainer) const {
    const EmbeddingRank me = self(program.input());
    const Slice ids = me.slice_for_trainer(program.setup(), kIds, trainer);
    const Slice rows = me.slice_for_trainer(program.setup(), kRows, trainer);
    program.kernel("lookup", {table, {ids}}, {{rows}}, encode_job(job_, me.server()));
  }

  /// Appends the work of a server.  It receives every message in a separate exchange, so that no
  /// trainer's lookup waits for a slower trainer.
  void append_server_work(Program& program, Variant variant) const {
    const auto on = communicator_named(program.setup(), kLookups);
    const Access rows = table(program, variant);
    const auto receive = [&](const BufferPair& what) {
      for (const Message& message : served_messages(program, what, false)) {
        program.exchange(on, {}, {message});
      }
    };
    receive(kIds);
    for (const Message& answer : served_messages(program, kRows, true)) {
      look_up_for(program, rows, answer.peer);
      program.exchange(on, {answer}, {});
    }
    receive(kRowGradients);
    if (job_.staleness == 0) {
      update(program, rows, 0, job_.trainers);
      return;
    }
    for (Rank trainer = 0; trainer < job_.trainers; ++trainer) {
      update(program, rows, trainer, trainer + 1);
    }
  }

  /// Appends an exchange of all ranks with all others, if there are others.
  static void all_to_all(Program& program, std::vector<Message> sends,
                         std::vector<Message> receives) {
    if (!sends.empty() || !receives.empty()) {
      program.exchange(communicator_named(program.setup(), kLookups), std::move(sends),
                       std::move(receives));
    }
  }

  /// Appends the exchanges in which a trainer with tables sends and receives the rows of a step.
  void exchange_rows(Program& program, Variant variant) const {
    const Rank rank = program.input().rank;
    all_to_all(program, messages(program, kIds, servers_of(rank, false)),
               served_messages(program, kIds, false));
    if (self(program.input()).serves()) {
      const Access rows = table(program, variant);
      for (Rank trainer = 0; trainer < job_.trainers; ++trainer) {
        if (answers(rank, trainer)) {
          look_up_for(program, rows, trainer);
        }
      }
    }
    all_to_all(program, served_messages(program, kRows, true),
               messages(program, kRows, servers_of(rank, true)));
  }

  void swap_gradients(Program& program) const {
    all_to_all(program, messages(program, kRowGradients, servers_of(program.input().rank, false)),
               served_messages(program, kRowGradients, false));
    if (self(program.input()).serves()) {
      update(program, {all(program, kTableRows)}, 0, job_.trainers);
    }
  }

  /// A lookup of step t precedes the updates of step t, so missing the updates of K steps is a
  /// slack of K + 1. The first step has no slack, because it draws the rows.
  Step slack_in(Variant variant) const {
    return job_.staleness == 0 || variant == 0 ? 0 : job_.staleness + 1;
  }

  /// Appends the update of the rows with the gradients of trainers `from` to `end` - 1.
  void update(Program& program, const Access& table, Rank from, Rank end) const {
    const EmbeddingRank me = self(program.input());
    std::vector<Access> reads{table}, writes{table};
    for (Rank trainer = from; trainer < end; ++trainer) {
      for (const BufferPair& what : {kIds, kRowGradients}) {
        reads.push_back({me.slice_for_trainer(program.setup(), what, trainer)});
      }
    }
    if (job_.optimizer_values_per_row() > 0) {
      reads.push_back({all(program, kTableState), table.slack});
      writes.push_back(reads.back());
    }
    if (job_.dense_gradients) {
      writes.push_back({all(program, kTableGradients), table.slack});
    }
    program.kernel(job_.dense_gradients ? "update_all_rows" : "update_rows", std::move(reads),
                   std::move(writes), encode_job(job_, me.server()));
  }

  EmbeddingJob job_;
  TableMap table_map_;
  std::unique_ptr<Planner> dense_;
  RowExchange rows_;
};

}  // namespace

std::unique_ptr<Planner> make_sharded_embeddings(const EmbeddingJob& job,
                                                 std::unique_ptr<Planner> dense, RowExchange rows) {
  return std::make_unique<ShardedEmbeddings>(job, std::move(dense), rows);
}

}  // namespace paceline::strategies
