// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/diagnosis.h"

#include <vector>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/plan/describe.h"

namespace paceline::execution {
// The op's step may have ended: a training thread may hang after its wait for the op is over.
std::string Diagnosis::describe(plan::OpRef ref) const {
  const plan::Frontier& frontier = scheduler_.frontier();
  const bool ended = frontier.idle() || ref.step < frontier.oldest().step;
  return ended ? "the end of the step" : plan::describe(frontier.op(ref), model_, setup_);
}

std::string Diagnosis::waited(plan::OpRef ref, std::chrono::nanoseconds time) const {
  std::string text =
      fmt::format("step {}: {} waited {:.1f} s", ref.step, describe(ref), to_seconds(time));
  const std::vector<plan::OpRef> chain = scheduler_.frontier().chain(ref);
  for (std::size_t i = 1; i < chain.size(); ++i) {
    text += fmt::format(" behind {} of step {}", describe(chain[i]), chain[i].step);
  }
  return text + where_is(chain.back());
}

std::string Diagnosis::where_is(plan::OpRef ref) const {
  const auto& in_flight = scheduler_.in_flight();
  if (in_flight.contains(ref)) {
    return ", which is in flight";
  }
  if (!scheduler_.frontier().is_enqueued(ref)) {
    return ", which has not been issued";
  }
  return in_flight.empty() ? ", which the device has not done"
                           : fmt::format(
                                 ", which the device has not done; in flight is {} "
                                 "of step {}",
                                 describe(in_flight.begin()->first), in_flight.begin()->first.step);
}

std::string Diagnosis::overdue(plan::OpRef ref, std::chrono::nanoseconds time) const {
  return fmt::format("step {}: {} is not done after {:.1f} s", ref.step, describe(ref),
                     to_seconds(time));
}

std::string Diagnosis::describe_hang(const std::optional<plan::OpRef>& at, plan::Step step,
                                     std::chrono::nanoseconds time) const {
  return fmt::format("step {}: the training thread has not moved for {:.1f} s, {}",
                     at ? at->step : step, to_seconds(time),
                     at ? "at " + describe(*at) : "behind the last operation");
}

std::exception_ptr Diagnosis::failed(plan::OpRef ref, std::string_view what,
                                     const std::exception_ptr& error) const {
  const auto text = [&](const std::exception& why) {
    return fmt::format("step {}: {} {}: {}", ref.step, describe(ref), what, why.what());
  };
  try {
    std::rethrow_exception(error);
  } catch (const UsageError& why) {
    return std::make_exception_ptr(UsageError(text(why)));
  } catch (const std::exception& why) {
    return std::make_exception_ptr(WorldError(text(why)));
  }
}

std::string Diagnosis::current() const {
  if (!scheduler_.in_flight().empty()) {
    return describe(scheduler_.in_flight().begin()->first);
  }
  const plan::Frontier& frontier = scheduler_.frontier();
  return frontier.idle() ? "between steps" : describe(frontier.oldest());
}

}  // namespace paceline::execution
