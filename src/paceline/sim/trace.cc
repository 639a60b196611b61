// SPDX-License-Identifier: Apache-2.0
#include "paceline/sim/trace.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "paceline/plan/describe.h"
#include "paceline/sim/run_record.h"
#include "paceline/sim/script.h"

namespace paceline::sim {
namespace {

using record::Activity;

Activity activity_of(ItemKind kind) {
  switch (kind) {
    case ItemKind::kForward:
      return Activity::kForward;
    case ItemKind::kBackward:
      return Activity::kBackward;
    case ItemKind::kKernel:
      return Activity::kUpdate;
    case ItemKind::kCollective:
    case ItemKind::kExchange:
      break;
  }
  return Activity::kTransfer;
}

bool is_model_work(const Item& item) {
  return item.kind == ItemKind::kForward || item.kind == ItemKind::kBackward;
}

/// One simulated rank's spans.
class Row {
 public:
  Row(const Job& job, const Actor& actor, std::vector<record::Span>& spans)
      : job_(job),
        actor_(actor),
        script_(job.scripts->of(actor.rank)),
        spans_(spans) {}

  void add(ItemId id, const Ran& ran) {
    const Item& item = job_.items[id];
    std::string name = plan::describe(
        script_.op(id - actor_.first), job_.input.model, script_.setup);
    if (is_model_work(item)) {
      open_phase(item);
      if (ran.begin > free_) {
        put(record::make_span(Activity::kWait, name, {.step = item.step}),
            free_,
            ran.begin);
      }
      free_ = ran.end;
    }
    const Activity activity = activity_of(item.kind);
    record::SpanArgs args{.step = item.step};
    if (activity == Activity::kTransfer) {
      args.bytes = item.bytes;
    }
    put(record::make_span(activity, std::move(name), args), ran.begin, ran.end);
  }

  /// From the end of the phase before to that of the last item.
  void close_phase() {
    if (phase_) {
      const Activity activity = activity_of(phase_->kind);
      put(record::make_span(
              activity,
              activity == Activity::kForward ? "forward" : "backward",
              {.step = phase_->step}),
          phase_began_,
          free_);
    }
    phase_.reset();
    phase_began_ = free_;
  }

 private:
  void open_phase(const Item& item) {
    if (phase_ && (phase_->kind != item.kind || phase_->step != item.step)) {
      close_phase();
    }
    phase_ = item;
  }

  void put(record::Span span, Picoseconds begin, Picoseconds end) {
    span.rank = actor_.rank;
    span.start_ns = ns(begin);
    span.duration_ns = ns(end) - span.start_ns;
    spans_.push_back(std::move(span));
  }

  const Job& job_;
  const Actor& actor_;
  const Script& script_;
  std::vector<record::Span>& spans_;
  std::optional<Item> phase_;  // its last item so far
  Picoseconds phase_began_ = 0;
  Picoseconds free_ = 0;  // where the training thread came to its end
};

}  // namespace

std::vector<record::Span> spans_of(const Job& job, const Simulator& simulator) {
  std::vector<record::Span> spans;
  for (const Actor& actor : job.actors) {
    Row row(job, actor, spans);
    for (ItemId id = actor.first; id < actor.steps.back(); ++id) {
      if (const Ran& ran = simulator.items()[id]; ran.end >= 0) {
        row.add(id, ran);
      }
    }
    row.close_phase();
  }
  return spans;
}

std::map<int, std::string> rank_names(const Job& job,
                                      const plan::Cluster& cluster) {
  std::map<int, std::string> names;
  for (const Actor& actor : job.actors) {
    const auto host = job.classes.host_of[static_cast<std::size_t>(actor.rank)];
    std::string name = cluster.hosts[static_cast<std::size_t>(host)].name;
    if (actor.stands_for > 1) {
      name += fmt::format("; {} {} the same",
                          actor.stands_for - 1,
                          actor.stands_for == 2 ? "other does" : "others do");
    }
    names.emplace(actor.rank, std::move(name));
  }
  return names;
}

}  // namespace paceline::sim
