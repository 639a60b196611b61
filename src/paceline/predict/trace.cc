// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/trace.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "paceline/plan/describe.h"
#include "paceline/predict/run_record.h"
#include "paceline/simulator/rank_program.h"

namespace paceline::predict {
namespace {

using records::Activity;

Activity activity_of(simulator::ItemKind kind) {
  switch (kind) {
    case simulator::ItemKind::kForward:
      return Activity::kForward;
    case simulator::ItemKind::kBackward:
      return Activity::kBackward;
    case simulator::ItemKind::kKernel:
      return Activity::kUpdate;
    case simulator::ItemKind::kCollective:
    case simulator::ItemKind::kExchange:
      break;
  }
  return Activity::kTransfer;
}

/// Adds the spans of one simulated rank.
class Row {
 public:
  Row(const simulator::Job& job, const simulator::Actor& actor, std::vector<records::Span>& spans)
      : job_(job), actor_(actor), program_(job.programs->of(actor.rank)), spans_(spans) {}

  void add(simulator::ItemId id, const simulator::RunInterval& ran) {
    const simulator::Item& item = job_.items[id];
    std::string name =
        plan::describe(program_.op(id - actor_.first), job_.input.model, program_.setup);
    if (simulator::is_model_work(item)) {
      open_phase(item);
      if (ran.begin > free_) {
        put(records::make_span(Activity::kWait, name, {.step = item.step}), free_, ran.begin);
      }
      free_ = ran.end;
    }
    const Activity activity = activity_of(item.kind);
    records::SpanArgs args{.step = item.step};
    if (activity == Activity::kTransfer) {
      args.bytes = item.bytes;
    }
    put(records::make_span(activity, std::move(name), args), ran.begin, ran.end);
  }

  /// Adds the span of the phase, from the end of the previous phase to the end of the phase's last
  /// item.
  void close_phase() {
    if (phase_) {
      const Activity activity = activity_of(phase_->kind);
      put(records::make_span(activity, activity == Activity::kForward ? "forward" : "backward",
                             {.step = phase_->step}),
          phase_began_, free_);
    }
    phase_.reset();
    phase_began_ = free_;
  }

 private:
  void open_phase(const simulator::Item& item) {
    if (phase_ && (phase_->kind != item.kind || phase_->step != item.step)) {
      close_phase();
    }
    phase_ = item;
  }

  void put(records::Span span, plan::Picoseconds begin, plan::Picoseconds end) {
    span.rank = actor_.rank;
    span.start_ns = ns(begin);
    span.duration_ns = ns(end) - span.start_ns;
    spans_.push_back(std::move(span));
  }

  const simulator::Job& job_;
  const simulator::Actor& actor_;
  const simulator::RankProgram& program_;
  std::vector<records::Span>& spans_;
  std::optional<simulator::Item> phase_;  // last item of the open phase so far
  plan::Picoseconds phase_began_ = 0;
  plan::Picoseconds free_ = 0;  // end of the training thread's last item
};

}  // namespace

std::vector<records::Span> spans_of(const simulator::Job& job,
                                    const simulator::Simulator& simulator) {
  std::vector<records::Span> spans;
  for (const simulator::Actor& actor : job.actors) {
    Row row(job, actor, spans);
    for (simulator::ItemId id = actor.first; id < actor.steps.back(); ++id) {
      if (const simulator::RunInterval& ran = simulator.items()[id]; ran.end >= 0) {
        row.add(id, ran);
      }
    }
    row.close_phase();
  }
  return spans;
}

std::map<int, std::string> rank_names(const simulator::Job& job, const cluster::Cluster& cluster) {
  std::map<int, std::string> names;
  for (const simulator::Actor& actor : job.actors) {
    const auto host = job.classes.host_of[static_cast<std::size_t>(actor.rank)];
    std::string name = cluster.hosts[static_cast<std::size_t>(host)].name;
    if (actor.represented_ranks > 1) {
      name += fmt::format("; {} {} the same", actor.represented_ranks - 1,
                          actor.represented_ranks == 2 ? "other does" : "others do");
    }
    names.emplace(actor.rank, std::move(name));
  }
  return names;
}

}  // namespace paceline::predict
