// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/sharded_embeddings.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/program.h"
#include "paceline/plan/ragged.h"
#include "paceline/strategies/bags_apart.h"

namespace paceline::strategies {
namespace {

constexpr auto kLookups = "lookups";  // the communicator
constexpr auto kTable = "embedding_rows";
constexpr auto kState = "embedding_state";
constexpr auto kOffsets = "bag_offsets";
constexpr auto kPooled = "pooled";
constexpr auto kPooledGradients = "pooled_gradients";

/// The elements of a ragged slice with room for `count`, to the next aligned
/// piece.
Elements room_for(Elements count, DType dtype) {
  const Elements aligned = kAlignmentBytes / size_of(dtype);
  return (length_elements(dtype) + count + aligned - 1) / aligned * aligned;
}

BufferId add(Setup& setup, Buffer buffer) {
  setup.buffers.push_back(std::move(buffer));
  return BufferId{static_cast<std::int32_t>(setup.buffers.size() - 1)};
}

class ShardedEmbeddings final : public Planner {
 public:
  ShardedEmbeddings(const EmbeddingJob& job,
                    std::unique_ptr<Planner> dense,
                    Rows rows)
      : job_(job), map_(job), dense_(std::move(dense)), rows_(rows) {
    check_job(job);
  }

  Setup setup(const PlanInput& input) const override {
    check_world(input);
    const PlanInput dense = dense_input(input);
    Setup setup = dense_->setup(dense);
    if (!trains(input)) {
      for (Communicator& group : setup.communicators) {
        group.members = {};
      }
    }
    add_buffers(input, setup);
    if (rows_ == Rows::kServed) {
      setup.communicators.push_back(
          {.name = kLookups,
           .members = Members::spaced(0, job_.trainers + job_.servers),
           .order = Order::kPriority});
      if (input.rank == master()) {
        setup.communicators.back().members = {};
      }
    }
    return setup;
  }

  /// The first step also draws the rows.
  Variant variant(const PlanInput& input, Step step) const override {
    return step == 0 ? 0 : 1 + dense_->variant(dense_input(input), step);
  }

  CommPlan plan(const PlanInput& input,
                const Setup& setup,
                Variant variant) const override {
    Program program(input, setup, {.buckets = {}, .trains = trains(input)});
    if (trains(input)) {
      train(program, variant);
    } else if (serves(input)) {
      serve(program, variant);
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
  Rank master() const { return job_.trainers + job_.servers; }
  bool trains(const PlanInput& input) const {
    return input.rank < job_.trainers;
  }
  bool serves(const PlanInput& input) const {
    return rows_ == Rows::kServed && !trains(input) && input.rank != master() &&
           holds_rows(input.rank - job_.trainers);
  }
  bool holds_rows(Rank server) const { return map_.rows_of(server) > 0; }

  void check_world(const PlanInput& input) const {
    if (rows_ == Rows::kServed && input.world != job_.ranks()) {
      throw UsageError(
          fmt::format("{} trainers, {} servers and the master are {} ranks, "
                      "and there are {}",
                      job_.trainers,
                      job_.servers,
                      job_.ranks(),
                      input.world));
    }
    if (input.micro_batches > 1 || input.loss_scaling) {
      throw UsageError(
          "embedding tables are looked up once a step, and their gradients are "
          "not scaled: leave out --accumulate and --dtype amp");
    }
  }

  /// What the dense part is planned for; ranks that do not train see it as the
  /// first trainer does.
  PlanInput dense_input(const PlanInput& input) const {
    PlanInput dense = input;
    const BagsApart parts = without_bags(input.model);
    dense.model = parts.dense;
    dense.world = training_ranks(input);
    dense.rank = trains(input) ? input.rank : 0;
    dense.local_world = fill_hosts(dense.world, input.local_world.sizes());
    if (dense.profile) {
      LayerProfile& profile = *dense.profile;
      profile.forward.erase(profile.forward.begin() +
                            static_cast<std::ptrdiff_t>(parts.module));
      profile.backward.pop_back();
    }
    if (dense.alpha_beta) {
      dense.alpha_beta->world = dense.world;
    }
    return dense;
  }

  /// Every rank has the same buffers, of the sizes that it needs.
  void add_buffers(const PlanInput& input, Setup& setup) const {
    const DType type = input.model.dtype;
    const bool trainer = trains(input);
    const Rank peers = trainer         ? job_.servers
                       : serves(input) ? job_.trainers
                                       : 0;
    const Elements typical = map_.typically_wanted();
    const auto ragged = [&](std::string_view name, DType of, Elements width) {
      add(setup,
          {.name = std::string(name),
           .dtype = of,
           .elements = peers * room_for(map_.most_wanted() * width, of),
           .typical = length_elements(of) + typical * width});
    };
    const DType of_rows = job_.bf16_rows ? DType::kBF16 : type;
    const Elements held =
        serves(input) ? map_.rows_of(input.rank - job_.trainers) : 0;
    add(setup, {.name = kTable, .dtype = of_rows, .elements = held * job_.dim});
    add(setup,
        {.name = kState,
         .dtype = type,
         .elements = held * job_.state_of_row()});
    ragged(kLookupIds, DType::kI64, 1);
    ragged(kLookupRows, of_rows, job_.dim);
    ragged(kLookupGradients, type, job_.dim);
    const auto local = [&](std::string_view name, DType of, Elements elements) {
      return add(setup,
                 {.name = std::string(name),
                  .dtype = of,
                  .elements = trainer ? elements : 0});
    };
    const Elements bags = job_.bags.most_bags();
    local(kLookupIndex, DType::kI64, 1 + job_.tables * job_.bags.most);
    local(kOffsets, DType::kI64, 1 + job_.tables * bags + 1);
    const BufferId pooled = local(kPooled, type, bags * job_.width());
    const BufferId gradients =
        local(kPooledGradients, type, bags * job_.width());
    setup.parameters.push_back(
        {.value = {pooled, 0, setup.buffers[index_of(pooled)].elements},
         .gradient = {
             gradients, 0, setup.buffers[index_of(gradients)].elements}});
  }

  static Slice all(const Program& program, std::string_view name) {
    return whole(program.setup(), buffer_named(program.setup(), name));
  }

  /// The part of a ragged buffer that belongs to the `index`-th peer.
  Slice of_peer(const Program& program,
                std::string_view name,
                Rank index) const {
    const bool trainer = trains(program.input());
    return shard_of(
        all(program, name), index, trainer ? job_.servers : job_.trainers);
  }

  Rank rank_of(Rank server) const { return job_.trainers + server; }

  bool replicated() const {
    return job_.placement == TablePlacement::kReplicated;
  }

  /// Whether the server answers the trainer's lookups.
  bool answers(Rank server, Rank trainer) const {
    return holds_rows(server) &&
           (!replicated() || server == trainer % job_.servers);
  }

  /// The servers that send a trainer rows, or all that hold any.
  std::vector<Rank> servers_of(Rank trainer, bool answering) const {
    std::vector<Rank> servers;
    for (Rank server = 0; server < job_.servers; ++server) {
      if (answering ? answers(server, trainer) : holds_rows(server)) {
        servers.push_back(server);
      }
    }
    return servers;
  }

  /// A trainer's messages.  Replicas are told what the one is told that
  /// answers.
  std::vector<Message> messages(const Program& program,
                                std::string_view name,
                                const std::vector<Rank>& servers) const {
    std::vector<Message> all;
    for (const Rank server : servers) {
      const Rank slice =
          replicated() ? program.input().rank % job_.servers : server;
      all.push_back({rank_of(server), of_peer(program, name, slice)});
    }
    return all;
  }

  void train(Program& program, Variant variant) const {
    const PlanInput& input = program.input();
    program.kernel("deduplicate",
                   {},
                   {{all(program, kLookupIds)},
                    {all(program, kLookupIndex)},
                    {all(program, kOffsets)}},
                   numbers_of(job_, input.rank));
    if (rows_ == Rows::kServed) {
      look_up(program);
    }
    const auto numbers = numbers_of(job_, input.rank);
    program.kernel("pool",
                   {{all(program, kLookupRows)},
                    {all(program, kLookupIndex)},
                    {all(program, kOffsets)}},
                   {{all(program, kPooled)}},
                   numbers);
    const PlanInput dense = dense_input(input);
    const Variant of_dense =
        variant == 0 ? dense_->variant(dense, 0) : variant - 1;
    const BagsApart parts = without_bags(input.model);
    Spliced(program, input.model, parts)
        .append(dense_->plan(dense, program.setup(), of_dense), [&] {
          program.kernel("pool_gradient",
                         {{all(program, kPooledGradients)},
                          {all(program, kLookupIds)},
                          {all(program, kLookupIndex)},
                          {all(program, kOffsets)}},
                         {{all(program, kLookupGradients)}},
                         numbers);
          if (rows_ == Rows::kServed) {
            push(program);
          }
        });
  }

  /// All servers at once, or one after the other.
  void look_up(Program& program) const {
    const auto on = communicator_named(program.setup(), kLookups);
    const Rank me = program.input().rank;
    const std::vector<Rank> holding = servers_of(me, false);
    if (!job_.sequential) {
      program.exchange(on, messages(program, kLookupIds, holding), {});
      program.exchange(
          on, {}, messages(program, kLookupRows, servers_of(me, true)));
      return;
    }
    std::optional<OpIndex> answered;
    for (const Rank server : holding) {
      const OpIndex question =
          program.exchange(on, messages(program, kLookupIds, {server}), {});
      if (answered) {
        program.after(question, *answered);
      }
      if (answers(server, me)) {
        answered =
            program.exchange(on, {}, messages(program, kLookupRows, {server}));
      }
    }
  }

  void push(Program& program) const {
    program.exchange(
        communicator_named(program.setup(), kLookups),
        messages(
            program, kLookupGradients, servers_of(program.input().rank, false)),
        {});
  }

  /// Everything arrives by itself, so that no trainer waits for a slower one's
  /// lookup.
  void serve(Program& program, Variant variant) const {
    const auto on = communicator_named(program.setup(), kLookups);
    const Rank server = program.input().rank - job_.trainers;
    const Access table{all(program, kTable), slack_in(variant)};
    const std::vector<double> numbers = numbers_of(job_, server);
    if (variant == 0) {
      program.kernel("draw_rows", {}, {table}, numbers);
    }
    const auto receive = [&](std::string_view name) {
      for (Rank trainer = 0; trainer < job_.trainers; ++trainer) {
        program.exchange(on, {}, {{trainer, of_peer(program, name, trainer)}});
      }
    };
    receive(kLookupIds);
    for (Rank trainer = 0; trainer < job_.trainers; ++trainer) {
      if (answers(server, trainer)) {
        const Slice ids = of_peer(program, kLookupIds, trainer);
        const Slice rows = of_peer(program, kLookupRows, trainer);
        program.kernel("lookup", {table, {ids}}, {{rows}}, numbers);
        program.exchange(on, {{trainer, rows}}, {});
      }
    }
    receive(kLookupGradients);
    if (job_.staleness == 0) {
      update(program, table, 0, job_.trainers);
      return;
    }
    for (Rank trainer = 0; trainer < job_.trainers; ++trainer) {
      update(program, table, trainer, trainer + 1);
    }
  }

  /// A lookup comes before its step's updates, so missing those of K steps is a
  /// slack of K + 1.  The first step is strict: it draws the rows.
  Step slack_in(Variant variant) const {
    return job_.staleness == 0 || variant == 0 ? 0 : job_.staleness + 1;
  }

  /// Applies the gradients of trainers `from` to `end` - 1.
  void update(Program& program,
              const Access& table,
              Rank from,
              Rank end) const {
    std::vector<Access> reads{table}, writes{table};
    for (Rank trainer = from; trainer < end; ++trainer) {
      reads.push_back({of_peer(program, kLookupIds, trainer)});
      reads.push_back({of_peer(program, kLookupGradients, trainer)});
    }
    if (job_.state_of_row() > 0) {
      reads.push_back({all(program, kState), table.slack});
      writes.push_back(reads.back());
    }
    program.kernel("update_rows",
                   std::move(reads),
                   std::move(writes),
                   numbers_of(job_, program.input().rank - job_.trainers));
  }

  EmbeddingJob job_;
  TableMap map_;
  std::unique_ptr<Planner> dense_;
  Rows rows_;
};

}  // namespace

bool is_served(const Setup& setup) {
  return std::ranges::find(setup.communicators,
                           kLookups,
                           &Communicator::name) != setup.communicators.end();
}

std::unique_ptr<Planner> make_sharded_embeddings(const EmbeddingJob& job,
                                                 std::unique_ptr<Planner> dense,
                                                 Rows rows) {
  return std::make_unique<ShardedEmbeddings>(job, std::move(dense), rows);
}

}  // namespace paceline::strategies
