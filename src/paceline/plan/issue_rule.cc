// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/issue_rule.h"

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/plan_input.h"

namespace paceline::plan {
namespace {

bool has_exchanges(const Planner& planner, const PlanInput& input, const Setup& setup) {
  return std::ranges::any_of(variants_of(planner, input), [&](Variant variant) {
    const CommPlan plan = planner.plan(input, setup, variant);
    return std::ranges::any_of(
        plan.ops, [](const Op& op) { return std::holds_alternative<Exchange>(op.work); });
  });
}

}  // namespace

void require_one_order(const Planner& planner, const PlanInput& input, const Setup& setup,
                       std::string_view engine) {
  const auto& all = setup.communicators;
  const auto by_priority = std::ranges::find(all, IssueOrder::kPriority, &Communicator::order);
  if (by_priority != all.end() && (all.size() > 1 || has_exchanges(planner, input, setup))) {
    throw UsageError(fmt::format(
        "order=priority: over {} every rank must issue in one order, which the first rank of '{}' "
        "cannot choose for the plan's {}: use order=program, or an exchange with one communicator "
        "and without messages.",
        engine, by_priority->name, all.size() > 1 ? "other communicators" : "messages"));
  }
}

IssueRule::Number IssueRule::add(bool collective, std::int32_t priority, std::int64_t bytes) {
  const Number op = first_ + static_cast<Number>(entries_.size());
  entries_.push_back({.priority = priority,
                      .collective = collective,
                      .bytes = bytes,
                      .collective_number = collectives_});
  if (collective) {
    ++collectives_;
    if (follows()) {
      followed_collectives_.push_back(op);
    }
  }
  return op;
}

void IssueRule::ready(Number op) {
  Entry& entry = at(op);
  entry.ready = true;
  if (is_own_pick(entry)) {
    choices_of(entry).emplace(entry.priority, op);
  }
}

std::optional<IssueRule::Number> IssueRule::next() const {
  if (order_ == IssueOrder::kProgram) {
    const bool goes = !entries_.empty() && can_be_issued(entries_.front());
    return goes ? std::optional(first_) : std::nullopt;
  }
  std::optional<Choice> best;
  const auto consider = [&](const Choice& choice) {
    if (!best || choice < *best) {
      best = choice;
    }
  };
  if (!choices_with_bytes_.empty() && !credit_is_spent()) {
    consider(choices_with_bytes_.top());
  }
  if (!choices_without_bytes_.empty()) {
    consider(choices_without_bytes_.top());
  }
  if (const auto picked = picked_op(); picked && can_be_issued(at(*picked))) {
    consider({at(*picked).priority, *picked});
  }
  return best ? std::optional(best->second) : std::nullopt;
}

void IssueRule::issue(Number op) {
  Entry& entry = at(op);
  PACELINE_CHECK(entry.ready && !entry.issued);
  entry.issued = true;
  in_flight_bytes_ += entry.bytes;
  if (is_own_pick(entry)) {
    choices_of(entry).pop();
  } else if (order_ == IssueOrder::kPriority) {
    picks_.pop_front();
  }
  for (; !entries_.empty() && entries_.front().issued; ++first_) {
    if (follows() && entries_.front().collective) {
      followed_collectives_.pop_front();
      ++first_collective_;
    }
    entries_.pop_front();
  }
}

IssueRule::Number IssueRule::collective_number(Number op) const { return at(op).collective_number; }

void IssueRule::follow(Number collective) {
  PACELINE_CHECK(follows());
  picks_.push_back(collective);
}

std::optional<IssueRule::Number> IssueRule::picked_op() const {
  if (picks_.empty()) {
    return std::nullopt;
  }
  const auto place = static_cast<std::size_t>(picks_.front() - first_collective_);
  return place < followed_collectives_.size() ? std::optional(followed_collectives_[place])
                                              : std::nullopt;
}

std::optional<IssueRule::Number> IssueRule::op_required_before(Number op) const {
  if (order_ == IssueOrder::kProgram) {
    return op == first_ ? std::nullopt : std::optional(first_);
  }
  const auto picked = is_own_pick(at(op)) ? std::nullopt : picked_op();
  return picked == op ? std::nullopt : picked;
}

}  // namespace paceline::plan
