// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <ATen/Parallel.h>
#include <torch/types.h>

#include "paceline/base/error.h"
#include "paceline/base/random.h"
#include "paceline/networks/bags.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/kernels.h"
#include "paceline/runtime/ragged.h"
#include "paceline/strategies/embedding_job.h"

namespace paceline::runtime {
namespace {

using plan::Elements;
using strategies::EmbeddingJob;
using strategies::TableMap;

// Returns the part of `peer` in a ragged tensor that holds one part for each of `peers` peers.
at::Tensor part_of_peer(const at::Tensor& all, Elements peers, Elements peer) {
  const Elements count = all.numel() / peers;
  return all.narrow(0, peer * count, count);
}

// Calls `run` with a null pointer whose type tells the type of the tensor's elements.
template <class Run>
void dispatch_on_type(const at::Tensor& tensor, const Run& run) {
  if (tensor.scalar_type() == at::kBFloat16) {
    run(static_cast<c10::BFloat16*>(nullptr));
  } else if (tensor.scalar_type() == at::kDouble) {
    run(static_cast<double*>(nullptr));
  } else {
    PACELINE_CHECK(tensor.scalar_type() == at::kFloat);
    run(static_cast<float*>(nullptr));
  }
}

// Converts between element types; needed where rows of bf16 meet gradients of another type.
template <class To, class From>
To to(From value) {
  if constexpr (std::is_same_v<To, c10::BFloat16>) {
    return c10::BFloat16(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class T>
void draw_row(const EmbeddingJob& job, Random random, T* row) {
  for (Elements d = 0; d < job.dim; ++d) {
    row[d] = to<T>(job.integers ? static_cast<double>(random.below(3)) - 1 : random.normal());
  }
}

// Collects the distinct rows that one trainer looks up in one step, by server.
class RequestedRows {
 public:
  RequestedRows(const at::Tensor& ids, plan::Rank servers) : servers_(servers), ids_(ids) {
    places_.resize(static_cast<std::size_t>(servers));
  }

  // Returns the index of a row among the rows requested from its server; adds the row if it is new.
  Elements request_index_of(const strategies::RowLocation& row) {
    auto& places = places_[static_cast<std::size_t>(row.server)];
    const auto next = static_cast<Elements>(places.size());
    const auto [found, fresh] = places.emplace(row.row, next);
    if (fresh) {
      ragged_elements<std::int64_t>(part_of_peer(ids_, servers_, row.server))[next] = row.row;
    }
    return found->second;
  }

  void set_lengths() const {
    for (plan::Rank server = 0; server < servers_; ++server) {
      set_ragged_length(part_of_peer(ids_, servers_, server),
                        static_cast<Elements>(places_[static_cast<std::size_t>(server)].size()));
    }
  }

 private:
  plan::Rank servers_;
  const at::Tensor& ids_;
  std::vector<std::unordered_map<Elements, Elements>> places_;  // by server
};

// Finds rows, or gradients of rows, in the tensor that holds the parts of all servers one after the
// other.
template <class T>
class RowsOfServers {
 public:
  RowsOfServers(const at::Tensor& all, const EmbeddingJob& job)
      : first_(all.mutable_data_ptr<T>()),
        slice_(all.numel() / job.servers),
        most_(TableMap(job).most_rows_per_server()),
        dim_(job.dim) {}

  // Returns the row number `index`, which is server * (largest number of rows requested from one
  // server) + (index among the rows requested from that server).
  T* row(Elements index) const {
    return first_ + index / most_ * slice_ + plan::kLengthBytes / static_cast<Elements>(sizeof(T)) +
           index % most_ * dim_;
  }

 private:
  T* first_;
  Elements slice_, most_, dim_;
};

// Calls `visit(row index, bag, table, number of lookups in the bag)` for every lookup.
template <class Visit>
void visit_lookups(const EmbeddingJob& job, const at::Tensor& index, const at::Tensor& offsets,
                   const Visit& visit) {
  const Elements bags = ragged_length(offsets) - 1;
  const auto* begins = ragged_elements<std::int64_t>(offsets);
  const auto* rows = ragged_elements<std::int64_t>(index);
  for (int table = 0; table < job.tables; ++table) {
    for (Elements bag = 0; bag < bags; ++bag) {
      for (Elements k = begins[bag]; k < begins[bag + 1]; ++k) {
        visit(rows[k], bag, table, begins[bag + 1] - begins[bag]);
      }
    }
    rows += begins[bags];
  }
}

template <class T>
T gradient_weight(const EmbeddingJob& job, Elements lookups) {
  return to<T>(job.mean ? 1.0 / static_cast<double>(lookups) : 1.0);
}

// For each row that any trainer looked up, adds the trainers' gradients, in the order of the
// trainers, to `sum_of(id)`.
template <class T, class SumOf>
void add_gradients(const Call& call, const EmbeddingJob& job, const SumOf& sum_of) {
  const std::size_t end = call.reads.size() - (job.optimizer_values_per_row() > 0 ? 1 : 0);
  for (std::size_t i = 1; i < end; i += 2) {
    const at::Tensor& wanted = call.reads[i].front();
    const T* gradient = ragged_elements<T>(call.reads[i + 1].front());
    const Elements count = ragged_length(wanted);
    PACELINE_CHECK_EQ(ragged_length(call.reads[i + 1].front()), count * job.dim);
    const auto* id = ragged_elements<std::int64_t>(wanted);
    for (Elements row = 0; row < count; ++row) {
      T* sum = sum_of(id[row]);
      for (Elements d = 0; d < job.dim; ++d) {
        sum[d] += gradient[row * job.dim + d];
      }
    }
  }
}

// The sums of add_gradients(), concatenated in the order in which the rows first occur.
template <class T>
struct RowGradientSums {
  std::vector<Elements> ids;
  std::vector<T> gradients;  // job.dim numbers per row

  RowGradientSums(const Call& call, const EmbeddingJob& job) {
    std::unordered_map<Elements, Elements> places;
    add_gradients<T>(call, job, [&](Elements id) {
      const auto next = static_cast<Elements>(ids.size());
      const auto [place, fresh] = places.emplace(id, next);
      if (fresh) {
        ids.push_back(id);
        gradients.resize(gradients.size() + static_cast<std::size_t>(job.dim));
      }
      return gradients.data() + place->second * job.dim;
    });
  }
};

// Applies the rule to one row.  Adagrad: Duchi, Hazan and Singer, JMLR 12, 2011.  Row-wise Adagrad,
// with one state number per row: Mudigere et al., ISCA 2022, arXiv:2104.05158.
template <class T, class Row>
void apply_row_rule(const EmbeddingJob& job, T rate, const std::vector<T>& gradient, T* state,
                    Row* row) {
  const T epsilon = to<T>(1e-10);
  if (job.rule == strategies::RowRule::kRowwiseAdagrad) {
    T squares = to<T>(0);
    for (const T g : gradient) {
      squares += g * g;
    }
    *state += squares / to<T>(gradient.size());
  }
  for (std::size_t d = 0; d < gradient.size(); ++d) {
    const T g = gradient[d];
    T step = rate * g;
    if (job.rule == strategies::RowRule::kAdagrad) {
      state[d] += g * g;
      step /= to<T>(std::sqrt(state[d])) + epsilon;
    } else if (job.rule == strategies::RowRule::kRowwiseAdagrad) {
      step /= to<T>(std::sqrt(*state)) + epsilon;
    }
    row[d] = to<Row>(to<T>(row[d]) - step);
  }
}

// Divides `sums`, which lie one after the other, by the number of trainers and applies the rule
// with these means to rows `id_of(0)`, `id_of(1)`, ...
template <class T, class IdOf>
void apply_means(const OptimizerSettings& rule, const Call& call, const EmbeddingJob& job,
                 std::span<const T> sums, const IdOf& id_of) {
  const at::Tensor& table = call.writes[0].front();
  const double rate = rule.rate_of_rows(call.random.step);
  dispatch_on_type(table, [&]<class Row>(Row*) {
    Row* rows = table.mutable_data_ptr<Row>();
    T* states =
        job.optimizer_values_per_row() > 0 ? call.writes[1].front().mutable_data_ptr<T>() : nullptr;
    std::vector<T> mean(static_cast<std::size_t>(job.dim));
    for (std::size_t i = 0; i < sums.size() / mean.size(); ++i) {
      for (std::size_t d = 0; d < mean.size(); ++d) {
        mean[d] = sums[i * mean.size() + d] / to<T>(job.trainers);
      }
      const Elements id = id_of(i);
      apply_row_rule(job, to<T>(rate), mean, states + id * job.optimizer_values_per_row(),
                     rows + id * job.dim);
    }
  });
}

}  // namespace

// The initial values of a row depend on the seed, its table and its id, but not on the server that
// holds it.
void run_draw_rows(const OptimizerSettings& /*rule*/, const Call& call) {
  constexpr Elements kNumbersABeat = 1 << 20;
  const auto [job, server] = strategies::decode_job(call.numbers);
  const at::Tensor& rows = call.writes[0].front();
  const TableMap map(job);
  const Elements at_once = std::max(Elements{1}, kNumbersABeat / job.dim);
  dispatch_on_type(rows, [&, &job = job, server = server]<class T>(T*) {
    T* const first_row = rows.mutable_data_ptr<T>();
    for (int table = 0; table < job.tables; ++table) {
      const auto draw = [&](Elements id, Elements end) {
        for (; id < end; ++id) {
          const strategies::RowLocation place = map.find(table, id, server);
          if (place.server == server) {
            const auto stream = static_cast<std::uint64_t>(table * job.rows + id);
            draw_row(job, Random(call.random.seed, std::uint64_t{1} << 63U | stream),
                     first_row + place.row * job.dim);
          }
        }
      };
      for (Elements id = 0; id < job.rows; id += at_once) {
        at::parallel_for(id, std::min(job.rows, id + at_once), 1, draw);
        call.beat();
      }
    }
  });
}

// Draws the step's lookups and removes duplicate ids, which stay in the order of their first
// occurrence.
void run_deduplicate(const OptimizerSettings& /*rule*/, const Call& call) {
  const auto [job, trainer] = strategies::decode_job(call.numbers);
  const networks::LookupBatchKey key{
      .seed = call.random.seed, .trainer = trainer, .step = call.random.step};
  const at::Tensor& index = call.writes[1].front();
  const at::Tensor& offsets = call.writes[2].front();
  const auto begins = networks::draw_offsets(job, key);
  set_ragged_length(offsets, static_cast<Elements>(begins.size()));
  std::ranges::copy(begins, ragged_elements<std::int64_t>(offsets));
  set_ragged_length(index, job.tables * begins.back());
  auto* next = ragged_elements<std::int64_t>(index);
  const TableMap map(job);
  const Elements most = map.most_rows_per_server();
  RequestedRows wanted(call.writes[0].front(), job.servers);
  std::vector<Elements> ids;
  for (int table = 0; table < job.tables; ++table) {
    if (table == 0 || !job.bags.shared) {
      ids = networks::draw_ids(job, key, table, begins.back());
    }
    for (const Elements id : ids) {
      const auto place = map.find(table, id, trainer);
      *next++ = place.server * most + wanted.request_index_of(place);
    }
  }
  wanted.set_lengths();
}

void run_lookup(const OptimizerSettings& /*rule*/, const Call& call) {
  const EmbeddingJob job = strategies::decode_job(call.numbers).job;
  const at::Tensor& table = call.reads[0].front();
  const at::Tensor& ids = call.reads[1].front();
  const at::Tensor& rows = call.writes[0].front();
  const Elements count = ragged_length(ids);
  set_ragged_length(rows, count * job.dim);
  dispatch_on_type(table, [&]<class T>(T*) {
    const T* from = table.const_data_ptr<T>();
    T* to = ragged_elements<T>(rows);
    const auto* id = ragged_elements<std::int64_t>(ids);
    for (Elements i = 0; i < count; ++i) {
      PACELINE_CHECK(id[i] >= 0 && (id[i] + 1) * job.dim <= table.numel());
      std::copy_n(from + id[i] * job.dim, job.dim, to + i * job.dim);
    }
  });
}

void run_pool(const OptimizerSettings& /*rule*/, const Call& call) {
  const EmbeddingJob job = strategies::decode_job(call.numbers).job;
  const at::Tensor& all_rows = call.reads[0].front();
  const at::Tensor& bags = call.writes[0].front();
  const at::Tensor& offsets = call.reads[2].front();
  dispatch_on_type(bags, [&]<class T>(T*) {
    T* first = bags.mutable_data_ptr<T>();
    std::fill_n(first, (ragged_length(offsets) - 1) * job.width(), to<T>(0));
    dispatch_on_type(all_rows, [&]<class Row>(Row*) {
      const RowsOfServers<Row> rows(all_rows, job);
      visit_lookups(job, call.reads[1].front(), offsets,
                    [&](Elements index, Elements bag, int table, Elements lookups) {
                      const Row* row = rows.row(index);
                      T* sum = first + bag * job.width() + table * job.dim;
                      const T weight = gradient_weight<T>(job, lookups);
                      for (Elements d = 0; d < job.dim; ++d) {
                        sum[d] += weight * to<T>(row[d]);
                      }
                    });
    });
  });
}

void run_pool_gradient(const OptimizerSettings& /*rule*/, const Call& call) {
  const EmbeddingJob job = strategies::decode_job(call.numbers).job;
  const at::Tensor& bags = call.reads[0].front();
  const at::Tensor& ids = call.reads[1].front();
  const at::Tensor& gradients = call.writes[0].front();
  dispatch_on_type(bags, [&]<class T>(T*) {
    for (plan::Rank server = 0; server < job.servers; ++server) {
      const at::Tensor part = part_of_peer(gradients, job.servers, server);
      const Elements count = ragged_length(part_of_peer(ids, job.servers, server)) * job.dim;
      set_ragged_length(part, count);
      std::fill_n(ragged_elements<T>(part), count, to<T>(0));
    }
    const T* first = bags.const_data_ptr<T>();
    const RowsOfServers<T> rows(gradients, job);
    visit_lookups(job, call.reads[2].front(), call.reads[3].front(),
                  [&](Elements index, Elements bag, int table, Elements lookups) {
                    T* row = rows.row(index);
                    const T* from = first + bag * job.width() + table * job.dim;
                    const T weight = gradient_weight<T>(job, lookups);
                    for (Elements d = 0; d < job.dim; ++d) {
                      row[d] += weight * from[d];
                    }
                  });
  });
}

void run_update_rows(const OptimizerSettings& rule, const Call& call) {
  const EmbeddingJob job = strategies::decode_job(call.numbers).job;
  dispatch_on_type(call.reads[2].front(), [&]<class T>(T*) {
    const RowGradientSums<T> sums(call, job);
    apply_means<T>(rule, call, job, sums.gradients, [&](std::size_t i) { return sums.ids[i]; });
  });
}

// A row whose gradient is zero stays unchanged under every rule, so this kernel gives the same bits
// as update_rows.
void run_update_all_rows(const OptimizerSettings& rule, const Call& call) {
  const EmbeddingJob job = strategies::decode_job(call.numbers).job;
  const at::Tensor& gradients = call.writes.back().front();
  dispatch_on_type(gradients, [&]<class T>(T*) {
    const std::span<T> sums(gradients.mutable_data_ptr<T>(),
                            static_cast<std::size_t>(gradients.numel()));
    std::ranges::fill(sums, to<T>(0));
    add_gradients<T>(call, job, [&](Elements id) { return sums.data() + id * job.dim; });
    apply_means<T>(rule, call, job, sums, [](std::size_t i) { return static_cast<Elements>(i); });
  });
}

}  // namespace paceline::runtime
