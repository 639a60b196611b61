// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string_view>

#include "paceline/base/error.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/linker.h"
#include "paceline/sim/classes.h"
#include "paceline/sim/script.h"

namespace paceline::sim {
namespace {

using plan::Rank;
using Key = std::vector<std::uint64_t>;

/// FNV-1a over whole words.
class Digest {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x100000001b3U;
    value_ ^= value_ >> 29U;
  }
  void add(std::string_view text) {
    for (const char c : text) {
      add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

void add_work(Digest& digest, const plan::Op& op) {
  digest.add(op.work.index());
  if (const auto* kernel = std::get_if<plan::Kernel>(&op.work)) {
    digest.add(kernel->name);
    for (const auto* list : {&kernel->reads, &kernel->writes}) {
      for (const plan::Access& access : *list) {
        digest.add(static_cast<std::uint64_t>(access.slice.count));
      }
    }
  } else if (const auto* x = std::get_if<plan::Exchange>(&op.work)) {
    for (const auto* list : {&x->sends, &x->receives}) {
      for (const plan::Message& message : *list) {
        digest.add(static_cast<std::uint64_t>(message.slice.count));
      }
    }
  } else if (const auto* c = std::get_if<plan::Collective>(&op.work)) {
    digest.add(static_cast<std::uint64_t>(c->pattern));
  } else if (const auto* f = std::get_if<plan::Forward>(&op.work)) {
    digest.add(plan::index_of(f->module));
  } else if (const auto* b = std::get_if<plan::Backward>(&op.work)) {
    digest.add(plan::index_of(b->parameter));
  }
}

/// What a rank's plan is but for whom it meets.
std::uint64_t digest_of(const Script& script, const plan::ModelShape& model) {
  Digest digest;
  plan::Linker linker(model, script.setup);
  for (std::size_t step = 0; step < script.steps.size(); ++step) {
    const auto links =
        linker.open(static_cast<plan::Step>(step), *script.steps[step]);
    for (std::size_t i = 0; i < script.steps[step]->ops.size(); ++i) {
      const plan::Op& op = script.steps[step]->ops[i];
      add_work(digest, op);
      digest.add(static_cast<std::uint64_t>(op.priority));
      digest.add(
          static_cast<std::uint64_t>(plan::bytes_in_flight(script.setup, op)));
      for (const plan::Edge& edge : links.waits_for[i]) {
        digest.add(static_cast<std::uint64_t>(edge.step));
        digest.add(static_cast<std::uint64_t>(edge.op));
      }
    }
  }
  return digest.value();
}

class Refinement {
 public:
  Refinement(Scripts& scripts, const Classes& start)
      : scripts_(scripts), classes_(start) {
    for (Rank rank = 0; rank < start.world(); ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      keys_.push_back(
          {static_cast<std::uint64_t>(start.stand_in[r]),
           digest_of(scripts.of(rank), scripts.input().model),
           static_cast<std::uint64_t>(
               start.host_size[static_cast<std::size_t>(start.host_of[r])])});
    }
  }

  Classes run() {
    std::size_t before = 0;
    std::size_t now = number();
    while (now != before) {
      before = now;
      color_hosts();
      color_communicators();
      for (Rank rank = 0; rank < classes_.world(); ++rank) {
        keys_[static_cast<std::size_t>(rank)] = key_of(rank);
      }
      now = number();
    }
    color_hosts();
    return std::move(classes_);
  }

 private:
  /// Ranks with equal keys get one color and one representative.
  std::size_t number() {
    std::map<Key, std::pair<std::uint64_t, Rank>> known;
    colors_.clear();
    for (Rank rank = 0; rank < classes_.world(); ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      const auto& found =
          known.emplace(keys_[r], std::pair(known.size(), rank)).first->second;
      colors_.push_back(found.first);
      classes_.stand_in[r] = found.second;
    }
    return known.size();
  }

  void color_hosts() {
    std::vector<Key> held(classes_.host_size.size());
    for (std::size_t r = 0; r < colors_.size(); ++r) {
      held[static_cast<std::size_t>(classes_.host_of[r])].push_back(colors_[r]);
    }
    std::map<Key, std::int32_t> known;
    classes_.host_class.clear();
    for (Key& key : held) {
      std::ranges::sort(key);
      const auto next = static_cast<std::int32_t>(known.size());
      classes_.host_class.push_back(known.emplace(key, next).first->second);
    }
    classes_.host_classes = static_cast<std::int32_t>(known.size());
  }

  /// A communicator is its members' colors, and how many share a host.
  void color_communicators() {
    std::map<Key, std::uint64_t> known;
    communicators_.clear();
    for (const plan::Communicator& communicator : scripts_.communicators()) {
      std::map<std::int32_t, std::uint64_t> on_host;
      for (const Rank rank : communicator.members) {
        ++on_host[host_of(rank)];
      }
      std::vector<std::pair<std::uint64_t, std::uint64_t>> members;
      for (const Rank rank : communicator.members) {
        members.emplace_back(color_of(rank), on_host[host_of(rank)]);
      }
      std::ranges::sort(members);
      Key key;
      for (const auto& [color, count] : members) {
        key.push_back(color);
        key.push_back(count);
      }
      const std::uint64_t next = known.size();
      communicators_.push_back(known.emplace(key, next).first->second);
    }
  }

  Key key_of(Rank rank) {
    const Script& script = scripts_.of(rank);
    Key key{color_of(rank),
            static_cast<std::uint64_t>(
                classes_.host_class[static_cast<std::size_t>(host_of(rank))])};
    for (const plan::CommPlan* plan : script.steps) {
      for (const plan::Op& op : plan->ops) {
        if (const auto* c = std::get_if<plan::Collective>(&op.work)) {
          key.push_back(communicators_[plan::index_of(c->on)]);
        } else if (const auto* x = std::get_if<plan::Exchange>(&op.work)) {
          for (const auto* list : {&x->sends, &x->receives}) {
            for (const plan::Message& message : *list) {
              key.push_back(2 * color_of(message.peer) +
                            (host_of(message.peer) == host_of(rank) ? 0 : 1));
            }
          }
        }
      }
    }
    return key;
  }

  std::uint64_t color_of(Rank rank) const {
    return colors_.at(static_cast<std::size_t>(rank));
  }
  std::int32_t host_of(Rank rank) const {
    return classes_.host_of[static_cast<std::size_t>(rank)];
  }

  Scripts& scripts_;
  Classes classes_;
  std::vector<Key> keys_;              // by rank
  std::vector<std::uint64_t> colors_;  // by rank
  std::vector<std::uint64_t> communicators_;
};

}  // namespace

Classes refined(const plan::Planner& planner,
                const plan::PlanInput& input,
                const Classes& start,
                plan::Step steps) {
  Scripts scripts(planner, input, steps);
  return Refinement(scripts, start).run();
}

}  // namespace paceline::sim
