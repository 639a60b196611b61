// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/dispatcher.h"

#include <algorithm>
#include <variant>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"

namespace paceline::execution {
namespace {

constexpr std::int64_t kHeartbeatNs = 500'000'000;

}  // namespace

Dispatcher::Dispatcher(const plan::PlanInput& input,
                       const plan::Setup& setup,
                       Issuer& issuer,
                       RunKernel run_kernel,
                       Options options)
    : issuer_(issuer),
      run_kernel_(std::move(run_kernel)),
      options_(std::move(options)),
      scheduler_(input.model, setup, input.rank),
      diagnosis_(scheduler_, input.model, setup),
      deadlines_(
          options_.timeout, options_.first_step, options_.training_timeout) {
  communication_ = std::thread([this] { communicate(); });
}

Dispatcher::~Dispatcher() {
  {
    const Lock lock(mutex_);
    stop_ = true;
  }
  communication_wake_.notify_all();
  communication_.join();
}

void Dispatcher::begin_step(plan::Step step,
                            const std::shared_ptr<const plan::CommPlan>& plan) {
  Lock lock(mutex_);
  error_.rethrow_if_set();
  deadlines_.begin_step(steady_ns());
  step_ = step;
  issuer_.open(step, *plan);
  scheduler_.open(step, plan);
  advance(lock);
}

void Dispatcher::end_step() {
  const Lock lock(mutex_);
  deadlines_.end_step();
}

void Dispatcher::progress() {
  const Lock lock(mutex_);
  error_.rethrow_if_set();
  deadlines_.progress(steady_ns());
}

void Dispatcher::wait_ready(plan::OpRef ref) {
  Lock lock(mutex_);
  error_.rethrow_if_set();
  const plan::Frontier& frontier = scheduler_.frontier();
  if (!frontier.is_ready(ref)) {
    wait_until([&] { return frontier.is_ready(ref); }, ref, lock);
  }
}

void Dispatcher::wait_steps(std::size_t most) {
  Lock lock(mutex_);
  error_.rethrow_if_set();
  const plan::Frontier& frontier = scheduler_.frontier();
  while (frontier.open_steps() > most) {
    const plan::OpRef oldest = frontier.oldest();
    wait_until([&] { return frontier.is_complete(oldest); }, oldest, lock);
  }
}

void Dispatcher::complete(plan::OpRef ref) {
  Lock lock(mutex_);
  deadlines_.progress(steady_ns());
  if (!scheduler_.frontier().is_complete(ref)) {
    scheduler_.complete(ref);
    advance(lock);
  }
}

// The training thread runs kernels while it waits.
void Dispatcher::wait_until(const std::function<bool()>& done,
                            plan::OpRef ref,
                            Lock& lock) {
  const std::int64_t began = steady_ns();
  std::int64_t in_kernels = 0;
  awaited_ = &done;
  awaited_op_ = ref;
  struct Awaiting {
    Dispatcher& self;
    ~Awaiting() { self.awaited_ = nullptr; }
  } const awaiting{*this};
  while (!done()) {
    error_.rethrow_if_set();
    const std::int64_t kernel_began = steady_ns();
    training_in_kernel_ = true;
    const bool ran = run_one_kernel(lock);
    training_in_kernel_ = false;
    if (ran) {
      deadlines_.progress(steady_ns());
      in_kernels += steady_ns() - kernel_began;
      continue;
    }
    const std::chrono::nanoseconds waited(steady_ns() - began);
    const std::chrono::nanoseconds left = deadlines_.limit() - waited;
    if (left.count() <= 0) {
      fail(
          std::make_exception_ptr(PeerTimeout(diagnosis_.waited(ref, waited))));
      continue;
    }
    training_waits_ = true;
    training_wake_.wait_for(
        lock,
        std::min<std::chrono::nanoseconds>(left, std::chrono::seconds(1)));
    training_waits_ = false;
  }
  error_.rethrow_if_set();
  const std::int64_t waited = steady_ns() - began;
  waited_ns_ += waited - in_kernels;
  waited_in_all_ns_ += waited;
  add_span(ref, began, OpSpan::Kind::kWait);
  if (has_kernel_beside()) {
    communication_wake_.notify_one();
  }
}

// Starts what may start.  Engines may report at once and on this very thread,
// so what was started is watched only after the lock is open.
void Dispatcher::advance(Lock& lock) {
  request_picks();
  std::vector<Started> started = start_communication();
  if (issuer_.is_asynchronous()) {
    advance_asynchronously(std::move(started), lock);
    return;
  }
  if (training_waits_) {
    training_wake_.notify_all();
  }
  if (has_kernel_beside()) {
    communication_wake_.notify_one();
  }
  if (!started.empty()) {
    lock.unlock();
    for (const Started& one : started) {
      one.watch();
    }
    lock.lock();
  }
}

// Ops are complete once they are enqueued, which may make more ops ready.
void Dispatcher::advance_asynchronously(std::vector<Started> started,
                                        Lock& lock) {
  bool more = true;
  while (more) {
    for (const Started& one : started) {
      one.watch();
      scheduler_.complete(one.ref);
    }
    more = run_one_kernel(lock) || !started.empty();
    if (more) {
      request_picks();
      started = start_communication();
    }
  }
  training_wake_.notify_all();
}

void Dispatcher::advance_or_fail(Lock& lock) {
  try {
    advance(lock);
  } catch (...) {
    if (!lock.owns_lock()) {
      lock.lock();
    }
    fail(std::current_exception());
  }
}

void Dispatcher::request_picks() {
  auto& queues = scheduler_.queues();
  for (std::size_t on = 0; on < queues.size(); ++on) {
    if (!error_.is_set() && queues[on].ask()) {
      issuer_.receive_pick(on);
    }
  }
}

// Each communicator in its order.  A run that has failed issues no more.
std::vector<Dispatcher::Started> Dispatcher::start_communication() {
  std::vector<Started> started;
  auto& queues = scheduler_.queues();
  for (std::size_t on = 0; on < queues.size(); ++on) {
    while (!error_.is_set()) {
      const auto ref = scheduler_.take_communication(on, steady_ns());
      if (!ref) {
        break;
      }
      const plan::Op& op = scheduler_.frontier().op(*ref);
      try {
        if (queues[on].picks() &&
            std::holds_alternative<plan::Collective>(op.work)) {
          issuer_.send_pick(on, *ref);
        }
        started.push_back({*ref, issuer_.start(*ref, op)});
      } catch (...) {
        scheduler_.withdraw(*ref);
        fail(diagnosis_.failed(
            *ref, "could not start", std::current_exception()));
      }
    }
  }
  return started;
}

void Dispatcher::op_ended(plan::OpRef ref, const std::exception_ptr& error) {
  Lock lock(mutex_);
  if (error != nullptr) {
    fail(diagnosis_.failed(ref, "failed", error));
    return;
  }
  add_span(ref, scheduler_.in_flight().at(ref));
  scheduler_.complete(ref);
  advance_or_fail(lock);
}

void Dispatcher::pick_arrived(std::size_t on,
                              plan::OpRef pick,
                              const std::exception_ptr& error) {
  Lock lock(mutex_);
  if (error != nullptr) {
    fail(error);
    return;
  }
  scheduler_.queues()[on].follow(pick);
  advance_or_fail(lock);
}

// Whether the communication thread has a kernel to run.  A training thread that
// waits runs one itself, with its own intra-op threads; the communication
// thread takes one from it only if more are ready.
bool Dispatcher::has_kernel_beside() const {
  const std::size_t beside = options_.spare_core ? scheduler_.ready_kernels()
                                                 : scheduler_.urgent_kernels();
  return beside > (training_waits_ ? 1U : 0U);
}

// False where no kernel is ready; `urgent`: none that communication waits for.
bool Dispatcher::run_one_kernel(Lock& lock, bool urgent) {
  const auto ref = scheduler_.take_kernel(urgent);
  if (!ref) {
    return false;
  }
  const auto& kernel =
      std::get<plan::Kernel>(scheduler_.frontier().op(*ref).work);
  const std::int64_t began = steady_ns();
  lock.unlock();
  try {
    run_kernel_(*ref, kernel);
    lock.lock();
  } catch (...) {
    lock.lock();
    fail(std::current_exception());
    return true;
  }
  add_span(*ref, began);
  scheduler_.complete(*ref);
  if (!issuer_.is_asynchronous()) {
    advance(lock);
  }
  return true;
}

// The communication thread.  An error here fails the run; the thread lives on.
void Dispatcher::communicate() {
  if (options_.on_thread_start) {
    options_.on_thread_start();
  }
  std::int64_t next_heartbeat_ns = 0;
  Lock lock(mutex_);
  while (!stop_) {
    try {
      communicate_once(next_heartbeat_ns, lock);
    } catch (...) {
      if (!lock.owns_lock()) {
        lock.lock();
      }
      fail(std::current_exception());
    }
  }
}

void Dispatcher::communicate_once(std::int64_t& next_heartbeat_ns, Lock& lock) {
  if (options_.heartbeat && steady_ns() >= next_heartbeat_ns) {
    next_heartbeat_ns = steady_ns() + kHeartbeatNs;
    const plan::Step step = step_;
    const std::string op = diagnosis_.current();
    lock.unlock();
    options_.heartbeat(step, op);
    lock.lock();
  }
  if (stop_) {
    return;
  }
  check_deadlines();
  report_stuck(lock);
  const bool take = !error_.is_set() && has_kernel_beside();
  if (!take || !run_one_kernel(lock, !options_.spare_core)) {
    communication_wake_.wait_for(lock, std::chrono::nanoseconds(kHeartbeatNs));
  }
}

// The op that the training thread is at, where nothing holds it: model work, or
// the end of a wait for an op that is ready, or for a kernel that it runs or
// should run.
std::optional<plan::OpRef> Dispatcher::at_work() const {
  if (awaited_ != nullptr) {
    return training_in_kernel_ || (*awaited_)() ||
                   scheduler_.ready_kernels() > 0
               ? std::optional(awaited_op_)
               : std::nullopt;
  }
  return deadlines_.in_step() ? scheduler_.first_of_model() : std::nullopt;
}

// A wait sees for itself that it is late, and names the chain as well.
void Dispatcher::check_deadlines() {
  const auto at = at_work();
  const auto still = deadlines_.find_hang(!at.has_value(), steady_ns());
  if (error_.is_set()) {
    return;
  }
  if (still) {
    training_hangs_ = true;
    fail(std::make_exception_ptr(WorldError(diagnosis_.hangs(*at, *still))));
    return;
  }
  if (training_waits_) {
    return;
  }
  if (const auto late = deadlines_.find_overdue(scheduler_, steady_ns())) {
    fail(std::make_exception_ptr(
        PeerTimeout(diagnosis_.overdue(late->op, late->waited))));
  }
}

void Dispatcher::report_stuck(Lock& lock) {
  if (!options_.stuck || !(deadlines_.in_step() || training_hangs_)) {
    return;
  }
  const auto grace =
      training_hangs_ ? std::chrono::nanoseconds(0) : options_.grace;
  if (const auto why = error_.take_untold(steady_ns(), grace)) {
    lock.unlock();
    options_.stuck(why);
    lock.lock();
  }
}

void Dispatcher::fail(const std::exception_ptr& error) {
  error_.set(error, steady_ns());
  training_wake_.notify_all();
  communication_wake_.notify_all();
}

void Dispatcher::add_span(plan::OpRef ref,
                          std::int64_t start_ns,
                          OpSpan::Kind kind) {
  if (options_.record_spans) {
    spans_.push_back({ref, kind, start_ns, steady_ns()});
  }
}

std::int64_t Dispatcher::take_waited_ns() {
  const Lock lock(mutex_);
  return std::exchange(waited_ns_, 0);
}

std::int64_t Dispatcher::waited_in_all_ns() const {
  const Lock lock(mutex_);
  return waited_in_all_ns_;
}

std::vector<OpSpan> Dispatcher::take_spans() {
  const Lock lock(mutex_);
  return std::exchange(spans_, {});
}

}  // namespace paceline::execution
