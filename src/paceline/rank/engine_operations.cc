// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/clock.h"
#include "paceline/base/ranks_per_host.h"
#include "paceline/base/text.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/engines/line_rate.h"
#include "paceline/launch/signals.h"
#include "paceline/rank/comm_case.h"
#include "paceline/rank/link_check.h"
#include "paceline/rank/rank_group.h"
#include "paceline/rank/warnings.h"
#include "paceline/rank/workload.h"
#include "paceline/records/json.h"

namespace paceline::rank {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CommSamples, bytes, duration_ns, wire_bytes, wrong_elements)

namespace {

using nlohmann::json;

// If the ranks are on several hosts (`one_clock` false), times on the emulated link are counted
// from the first measured operation, which all ranks began together.
std::string text_of(const CommSamples& samples, bool one_clock) {
  json all = samples;
  all["linked"] = to_text(samples.linked, one_clock ? 0 : samples.began_ns);
  return all.dump();
}

CommSamples samples_from(const std::string& text) {
  const json all = json::parse(text);
  auto samples = all.get<CommSamples>();
  samples.linked = linked_operations_from(all.at("linked"));
  return samples;
}

// Adds a rank's samples to the record, which keeps the longest duration of each iteration.
void merge(const CommSamples& samples, records::CommRecord& record) {
  record.bytes = samples.bytes;
  record.wire_bytes = std::max(record.wire_bytes, samples.wire_bytes);
  record.wrong_elements = std::max(record.wrong_elements.value_or(0), samples.wrong_elements);
  record.iteration_ns.resize(samples.duration_ns.size(), 0);
  for (std::size_t i = 0; i < samples.duration_ns.size(); ++i) {
    record.iteration_ns[i] = std::max(record.iteration_ns[i], samples.duration_ns[i]);
  }
}

void check_link_model(const std::vector<std::vector<engines::LinkedOperation>>& linked,
                      records::CommRecord& record) {
  const records::LinkCheck check = check_link(linked, 1);
  record.valid.reset();
  if (check.operations > 0) {
    record.link_slack_ns = check.slack_ns;
    record.valid = matches_link_duration(record);
  }
}

// Measures the line rate, and performs the operations of `paceline comm`.
class EngineOperations final : public Workload {
 public:
  explicit EngineOperations(SessionContext& session)
      : session_(session),
        world_(session.world),
        sweep_(*session.job.operations),
        timeout_(session.job.settings.timeout_ms()),
        // A rank in this job waits for other ranks most of the time, so waiting does not count as
        // hanging.
        hold_(session.context.heartbeat, launch::Heartbeat::Hold::For::kPeers),
        rows_(comm_rows(sweep_.operations, sweep_.sizes, sweep_.dtype, world_.self.world)) {}

  std::size_t begin() override {
    session_.report_position("before the first operation");
    connect();
    measure_line();
    return rows_.size();
  }

  void perform(std::size_t row) override {
    const auto& [operation, bytes] = rows_[row];
    session_.report_position(
        fmt::format("at {} of {} B (row {} of {})", operation, bytes, row + 1, rows_.size()));
    const auto title = fmt::format("[{}/{}] {} of {} B ({})", row + 1, rows_.size(), operation,
                                   bytes, counted(world_.self.world, "rank"));
    const auto progress = [&](int done, int total) {
      launch::throw_if_stop_requested();
      session_.context.heartbeat.beat(launch::kNoSteps, session_.position);
      session_.progress.show(fmt::format("{}: iteration {} of {}", title, done, total));
    };
    const CommSamples mine = measure(operation, bytes, progress);
    session_.progress.clear();
    const auto key = [row](int rank) { return fmt::format("operation/{}/{}", row, rank); };
    session_.store.set(key(world_.self.rank), text_of(mine, engines::on_one_host(world_.hosts)));
    if (session_.is_rank_0()) {
      std::vector<CommSamples> samples;
      for (int rank = 0; rank < world_.self.world; ++rank) {
        samples.push_back(samples_from(session_.store.wait(key(rank))));
      }
      session_.hand_over(
          records::to_line(records::to_json(record_of(operation, samples), session_.environment)));
    }
  }

 private:
  using Progress = std::function<void(int done, int total)>;

  void connect() {
    cases::Case c;
    c.ranks = world_.self.world;
    c.device = sweep_.device;
    c.link = sweep_.link;
    link_ = make_link(c);
    engine_ = engines::make_engine(sweep_.engine);
    group_ = make_rank_group(world_, c, *engine_, "comm", session_.job.settings.interface);
    group_.link = link_;
    group_.peers.idle = [this] { session_.idle(); };
    group_.peers.timeout = timeout_;
    channel_ = rank::connect(group_, "all", world_.self.world);
  }

  CommSamples measure(const std::string& operation, std::int64_t bytes, const Progress& progress) {
    std::vector<engines::LinkedOperation> linked;
    CommSamples samples =
        measure_operation(*channel_, operation, bytes,
                          {.warmup = sweep_.warmup,
                           .measured = sweep_.iterations,
                           .device = group_.device.str(),
                           .dtype = sweep_.dtype,
                           .progress = [&](int done, int total) {
                             if (link_ != nullptr && (done == sweep_.warmup || done == total)) {
                               // At the first call, these are the operations of the warm-up.
                               linked = link_->take_operations();
                             }
                             progress(done, total);
                           }});
    if (link_ != nullptr) {
      link_->take_operations();  // drops the operation that checked the values
    }
    samples.linked = std::move(linked);
    return samples;
  }

  void measure_line() {
    session_.report_position("at the measurement of the line rate");
    if (!sweep_.link.empty()) {
      line_bytes_per_s_ = cluster::parse_link("--link", sweep_.link).bytes_per_s;
    } else if (world_.self.world > 1) {
      session_.store.barrier("line", world_.self.world);
      line_bytes_per_s_ =
          engines::measure_line_rate(world_, session_.store, group_.interface, timeout_);
    }
  }

  records::CommRecord record_of(const std::string& operation,
                                const std::vector<CommSamples>& samples) const {
    records::CommRecord record;
    record.started_at = utc_now();
    record.operation = operation;
    record.ranks = world_.self.world;
    record.ranks_per_host = ranks_per_host<std::string>(world_.hosts);
    record.engine = sweep_.engine;
    record.device = sweep_.device;
    record.dtype = sweep_.dtype;
    record.interface = group_.interface;
    record.link = sweep_.link;
    record.warmup = sweep_.warmup;
    record.line_bytes_per_s = line_bytes_per_s_;
    std::vector<std::vector<engines::LinkedOperation>> linked;
    for (const CommSamples& of_rank : samples) {
      merge(of_rank, record);
      linked.push_back(of_rank.linked);
    }
    if (!record.link.empty()) {
      check_link_model(linked, record);
    }
    if (auto warning = above_line_rate_warning(record)) {
      record.warnings.push_back(*std::move(warning));
    }
    return record;
  }

  SessionContext& session_;
  const engines::World& world_;
  const cases::OperationSweep& sweep_;
  const std::chrono::milliseconds timeout_;
  const launch::Heartbeat::Hold hold_;
  const std::vector<CommRow> rows_;
  std::shared_ptr<engines::Link> link_;  // null: operations run at the engine's own speed
  std::unique_ptr<engines::Engine> engine_;
  RankGroup group_;
  std::unique_ptr<engines::Channel> channel_;
  double line_bytes_per_s_ = 0;
};

}  // namespace

std::unique_ptr<Workload> engine_operations(SessionContext& session) {
  return std::make_unique<EngineOperations>(session);
}

}  // namespace paceline::rank
