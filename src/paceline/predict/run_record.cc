// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/run_record.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/describe.h"
#include "paceline/simulator/rank_program.h"

namespace paceline::predict {
namespace {

/// The times of one step of one simulated rank.
struct Phases {
  plan::Picoseconds step = 0, forward = 0, backward = 0;
};

std::vector<Phases> phases_of(const simulator::Job& job, const simulator::Simulator& simulator,
                              const simulator::Actor& actor) {
  std::vector<Phases> all;
  for (const plan::Picoseconds step : simulator.step_times_of(actor)) {
    Phases phases{.step = step};
    for (simulator::ItemId id = actor.steps[all.size()]; id < actor.steps[all.size() + 1]; ++id) {
      const simulator::RunInterval& ran = simulator.items()[id];
      const simulator::ItemKind kind = job.items[id].kind;
      if (kind == simulator::ItemKind::kForward) {
        phases.forward += ran.end - ran.begin;
      } else if (kind == simulator::ItemKind::kBackward) {
        phases.backward += ran.end - ran.begin;
      }
    }
    all.push_back(phases);
  }
  return all;
}

/// Returns the index of the simulated step for sample `k`: the last `window` of `steps` steps are
/// repeated.
std::size_t sample(std::size_t k, std::size_t steps, plan::Step window) {
  const auto last = static_cast<std::size_t>(window);
  return steps - last + k % last;
}

records::RankSamples samples_of(const std::vector<Phases>& phases, plan::Step window,
                                const cases::Case& configuration) {
  records::RankSamples samples;
  const auto steps = static_cast<std::size_t>(configuration.steps);
  for (std::size_t k = 0; k < steps; ++k) {
    const Phases& at = phases[sample(k, phases.size(), window)];
    samples.step_ns.push_back(ns(at.step));
    samples.phase_ns["forward"].push_back(ns(at.forward));
    samples.phase_ns["backward"].push_back(ns(at.backward));
    samples.phase_ns["wait"].push_back(ns(at.step - at.forward - at.backward));
    samples.window_ns += samples.step_ns.back();
  }
  return samples;
}

}  // namespace

plan::Rank training_ranks(const simulator::Job& job) {
  plan::Rank count = 0;
  for (const simulator::Actor& actor : job.actors) {
    count += actor.trains ? actor.represented_ranks : 0;
  }
  return count;
}

records::RunRecord record_of(const simulator::Job& job, const simulator::Simulator& simulator,
                             const simulator::StepTimes& times,
                             const simulator::Simulator& compute_only,
                             const cases::Case& configuration) {
  records::RunRecord record;
  record.source = records::Source::kPredicted;
  record.configuration = configuration;
  record.wire.planned_per_step = job.wire_bytes;
  record.wire.calls_per_step = job.calls;
  std::vector<records::RankSamples> by_actor;
  for (const simulator::Actor& actor : job.actors) {
    by_actor.emplace_back();
    if (!actor.trains) {
      continue;
    }
    by_actor.back() = samples_of(phases_of(job, simulator, actor), times.window, configuration);
    const std::vector<plan::Picoseconds> alone = compute_only.step_times_of(actor);
    for (std::size_t k = 0; k < static_cast<std::size_t>(configuration.steps); ++k) {
      by_actor.back().compute_only_step_ns.push_back(
          ns(alone[sample(k, alone.size(), compute_only.window())]));
    }
    by_actor.back().flush_ns = ns(times.flush);
    by_actor.back().device = configuration.device;
  }
  const simulator::Classes& classes = job.classes;
  for (plan::Rank rank = 0; rank < classes.world(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (classes.world() > kMostRecorded && classes.representative[r] != rank) {
      continue;
    }
    const std::uint32_t actor = job.actor_of(rank);
    if (!job.actors[actor].trains) {
      continue;
    }
    record.ranks.push_back(by_actor[actor]);
    record.ranks.back().rank = rank;
    record.ranks.back().local_rank = classes.local[r];
    record.ranks.back().host = fmt::format("host{}", classes.host_of[r]);
  }
  return record;
}

records::PredictionDetails predicted_of(const simulator::Job& job, const Bound& bound,
                                        const ErrorBar& bar, plan::Picoseconds step) {
  records::PredictionDetails out{.training_ranks = training_ranks(job),
                                 .bound = {.step_ns = ns(bound.step),
                                           .compute_ns = ns(bound.compute),
                                           .wire_ns = ns(bound.wire),
                                           .crosses_step = bound.crosses_step},
                                 .error_bar = error_bar_record(bar, ns(step))};
  if (bound.algorithm) {
    out.bound.algorithm = cluster::name_of(*bound.algorithm);
  }
  return out;
}

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

/// Adds the spans of one simulated rank to a trace.
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
  std::optional<simulator::Item> phase_;  // last item so far of the phase that is not closed
  plan::Picoseconds phase_began_ = 0;
  plan::Picoseconds free_ = 0;  // end of the last item on the training thread
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
