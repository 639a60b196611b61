// SPDX-License-Identifier: Apache-2.0
#include "paceline/execution/dispatcher.h"

#include <algorithm>
#include <variant>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"

namespace paceline::execution {
namespace {

// Steps that may be incomplete on a device when the next step begins.
constexpr std::size_t kStepsAhead = 1;

}  // namespace

Dispatcher::Dispatcher(const plan::PlanInput& input, const plan::Setup& setup, Issuer& issuer,
                       RunKernel run_kernel, Options options)
    : issuer_(issuer),
      run_kernel_(std::move(run_kernel)),
      options_(std::move(options)),
      scheduler_(input.model, setup, input.rank, options_.one_issue_order),
      diagnosis_(scheduler_, input.model, setup),
      deadlines_(options_.timeout, options_.first_step, options_.training_timeout) {
  if (options_.device != nullptr) {
    enqueued_ops_.emplace(*options_.device, scheduler_.frontier());
  }
  communication_ = std::thread([this] { communicate(); });
}

Dispatcher::~Dispatcher() {
  {
    const Lock lock(mutex_);
    step_watch_.reset();
    stop_ = true;
  }
  communication_wake_.notify_all();
  communication_.join();
}

// After an error the step is over, so this dispatcher no longer checks the training thread's
// deadlines.
void Dispatcher::throw_if_failed() {
  if (error_.is_set()) {
    step_watch_.reset();
    error_.rethrow_if_set();
  }
}

void Dispatcher::begin_step(plan::Step step, const std::shared_ptr<const plan::CommPlan>& plan) {
  if (options_.device != nullptr) {
    wait_steps(kStepsAhead);
  }
  Lock lock(mutex_);
  throw_if_failed();
  deadlines_.begin_step(steady_ns());
  step_watch_ = options_.watch ? options_.watch() : nullptr;
  step_ = step;
  issuer_.open(step, *plan);
  scheduler_.open(step, plan);
  advance(lock);
}

void Dispatcher::end_step() {
  const Lock lock(mutex_);
  step_watch_.reset();
  deadlines_.end_step();
}

void Dispatcher::progress() {
  const Lock lock(mutex_);
  throw_if_failed();
  deadlines_.progress(steady_ns());
}

void Dispatcher::wait_ready(plan::OpRef ref) {
  Lock lock(mutex_);
  throw_if_failed();
  const plan::Frontier& frontier = scheduler_.frontier();
  if (!frontier.is_ready(ref)) {
    wait_until([&] { return frontier.is_ready(ref); }, ref, lock);
  }
  wait_in_stream(ref, lock);
}

bool Dispatcher::try_wait_ready(plan::OpRef ref) {
  Lock lock(mutex_);
  throw_if_failed();
  const bool ready = scheduler_.frontier().is_ready(ref);
  if (ready) {
    wait_in_stream(ref, lock);
  }
  return ready;
}

// On a device, makes the training thread's stream wait for the ops that a ready op waits for.
void Dispatcher::wait_in_stream(plan::OpRef ref, Lock& lock) {
  if (enqueued_ops_ && !scheduler_.frontier().is_enqueued(ref)) {
    const Events before = enqueued_ops_->before(ref);
    lock.unlock();
    execution::wait_all(*options_.device, Device::kCompute, before);
  }
}

void Dispatcher::wait_steps(std::size_t most) {
  Lock lock(mutex_);
  throw_if_failed();
  const plan::Frontier& frontier = scheduler_.frontier();
  while (frontier.open_steps() > most) {
    const plan::OpRef oldest = frontier.oldest();
    wait_until([&] { return frontier.is_complete(oldest); }, oldest, lock);
  }
}

void Dispatcher::complete(plan::OpRef ref) {
  EventPtr event;
  if (options_.device != nullptr) {
    event = options_.device->record(Device::kCompute);
  }
  Lock lock(mutex_);
  deadlines_.progress(steady_ns());
  if (scheduler_.frontier().is_enqueued(ref)) {
    return;
  }
  if (enqueued_ops_) {
    record_enqueued(ref, std::move(event), steady_ns(), true);
  } else {
    scheduler_.complete(ref);
  }
  advance(lock);
}

// Blocks the training thread until `done` returns true; it runs ready kernels meanwhile. `ref` is
// the op that it waits for.
void Dispatcher::wait_until(const std::function<bool()>& done, plan::OpRef ref, Lock& lock) {
  const auto watch = options_.watch ? options_.watch() : nullptr;
  const std::int64_t began = steady_ns();
  std::int64_t in_kernels = 0;
  awaited_ = &done;
  awaited_op_ = ref;
  struct Awaiting {
    Dispatcher& self;
    ~Awaiting() { self.awaited_ = nullptr; }
  } const awaiting{*this};
  while (!done()) {
    throw_if_failed();
    const std::int64_t kernel_began = steady_ns();
    training_in_kernel_ = true;
    const bool ran = run_one_kernel(lock);
    training_in_kernel_ = false;
    if (ran) {
      deadlines_.progress(steady_ns());
      in_kernels += steady_ns() - kernel_began;
      continue;
    }
    const std::int64_t now = steady_ns();
    deadlines_.update_clock(now);
    const std::chrono::nanoseconds waited = deadlines_.waited(began, now);
    const std::chrono::nanoseconds left = deadlines_.limit() - waited;
    if (left.count() <= 0) {
      record_failure(std::make_exception_ptr(PeerTimeout(diagnosis_.waited(ref, waited))));
      continue;
    }
    training_waits_ = true;
    training_wake_.wait_for(lock,
                            std::min<std::chrono::nanoseconds>(left, std::chrono::seconds(1)));
    training_waits_ = false;
  }
  throw_if_failed();
  const std::int64_t waited = steady_ns() - began;
  waited_ns_ += waited - in_kernels;
  total_waited_ns_ += waited;
  add_span(ref, began, OpSpan::Kind::kWait);
  if (has_kernel_for_communication_thread()) {
    communication_wake_.notify_one();
  }
}

void Dispatcher::advance(Lock& lock) {
  issue(lock);
  if (training_waits_) {
    training_wake_.notify_all();
  }
  if (has_kernel_for_communication_thread()) {
    communication_wake_.notify_one();
  }
}

// Only one thread issues ops at a time.  It does not hold the lock during calls of the engine, so a
// call that blocks delays no deadline check and no heartbeat.  After an error nothing more is
// issued.
void Dispatcher::issue(Lock& lock) {
  issue_again_ = true;
  if (issuing_) {
    return;
  }
  issuing_ = true;
  while (issue_again_ && !error_.is_set()) {
    issue_again_ = false;
    receive_picks(lock);
    while (!error_.is_set()) {
      const auto ref =
          scheduler_.take_communication(steady_ns(), [&](plan::OpRef op) { return may_issue(op); });
      if (!ref) {
        break;
      }
      start(*ref, lock);
    }
  }
  issuing_ = false;
}

void Dispatcher::receive_picks(Lock& lock) {
  for (std::size_t on = 0; on < scheduler_.queues().size(); ++on) {
    while (!error_.is_set() && scheduler_.queues()[on].request_pick()) {
      if (const auto error = call_unlocked(lock, [&] { issuer_.receive_pick(on); })) {
        record_failure(error);
      }
    }
  }
}

// Returns whether the op may be issued now.  If ranks choose the order of issue, an op that the
// device cannot begin yet must wait: it could overtake one that the device can begin.
bool Dispatcher::may_issue(plan::OpRef ref) const {
  const bool chooses = !options_.one_issue_order && scheduler_.queue_of(ref).reorders();
  return !enqueued_ops_ || !chooses || enqueued_ops_->is_ready(ref);
}

void Dispatcher::start(plan::OpRef ref, Lock& lock) {
  const plan::Op& op = scheduler_.frontier().op(ref);
  const IssueQueue& queue = scheduler_.queue_of(ref);
  const bool picks = queue.picks() && std::holds_alternative<plan::Collective>(op.work);
  const IssueQueue::Pick pick = queue.last_pick();
  const Events before = enqueued_ops_ ? enqueued_ops_->before(ref) : Events{};
  const auto error = call_unlocked(lock, [&] {
    if (picks) {
      issuer_.send_pick(plan::index_of(*plan::communicator_of(op)), pick);
    }
    issuer_.start(ref, op, before);
  });
  if (error != nullptr) {
    scheduler_.remove_unstarted(ref);
    record_failure(diagnosis_.failed(ref, "could not start", error));
  }
}

template <class Call>
std::exception_ptr Dispatcher::call_unlocked(Lock& lock, Call&& call) {
  std::exception_ptr error;
  lock.unlock();
  try {
    call();
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  return error;
}

void Dispatcher::op_ended(plan::OpRef ref, const std::exception_ptr& error) {
  Lock lock(mutex_);
  if (error != nullptr) {
    record_failure(diagnosis_.failed(ref, "failed", error));
    return;
  }
  add_span(ref, scheduler_.in_flight().at(ref));
  scheduler_.complete(ref);
  advance(lock);
}

void Dispatcher::op_enqueued(plan::OpRef ref, EventPtr event) {
  Lock lock(mutex_);
  record_enqueued(ref, std::move(event), scheduler_.in_flight().at(ref), false);
  advance(lock);
}

// Records that an op is enqueued on the device. The communication thread polls for ends of ops only
// while some are enqueued, so the first op wakes it.
void Dispatcher::record_enqueued(plan::OpRef ref, EventPtr event, std::int64_t began_ns,
                                 bool computes) {
  if (enqueued_ops_->empty()) {
    communication_wake_.notify_one();
  }
  enqueued_ops_->add(ref, std::move(event), began_ns, computes);
  scheduler_.enqueue(ref);
}

void Dispatcher::pick_arrived(std::size_t on, IssueQueue::Pick pick,
                              const std::exception_ptr& error) {
  Lock lock(mutex_);
  if (error != nullptr) {
    record_failure(error);
    return;
  }
  scheduler_.queues()[on].follow(pick);
  advance(lock);
}

// Whether the communication thread has a kernel to run.  A waiting training thread runs one kernel
// itself, with its own intra-op threads, so the communication thread runs one only if several are
// ready.
bool Dispatcher::has_kernel_for_communication_thread() const {
  const std::size_t beside = options_.spare_core || enqueued_ops_ ? scheduler_.ready_kernels()
                                                                  : scheduler_.urgent_kernels();
  return beside > (training_waits_ ? 1U : 0U);
}

// Runs one ready kernel, or returns false if there is none.  With `urgent`, considers only kernels
// that communication waits for.
bool Dispatcher::run_one_kernel(Lock& lock, bool urgent) {
  const auto ref = scheduler_.take_kernel(urgent, [&](plan::OpRef kernel) {
    return !enqueued_ops_ || enqueued_ops_->has_stream_for(kernel);
  });
  if (!ref) {
    return false;
  }
  const auto& kernel = std::get<plan::Kernel>(scheduler_.frontier().op(*ref).work);
  const std::int64_t began = steady_ns();
  Events before;
  EventPtr event;
  Device::Stream stream = 0;
  if (enqueued_ops_) {
    stream = enqueued_ops_->take_stream(*ref);
    before = enqueued_ops_->before(*ref);
  }
  const auto error = call_unlocked(lock, [&] {
    if (options_.device == nullptr) {
      run_kernel_(*ref, kernel);
      return;
    }
    execution::wait_all(*options_.device, stream, before);
    options_.device->on(stream, [&] { run_kernel_(*ref, kernel); });
    event = options_.device->record(stream);
  });
  if (error != nullptr) {
    record_failure(error);
    return true;
  }
  if (enqueued_ops_) {
    record_enqueued(*ref, std::move(event), began, false);
  } else {
    add_span(*ref, began);
    scheduler_.complete(*ref);
  }
  advance(lock);
  return true;
}

void Dispatcher::record_failure(const std::exception_ptr& error) {
  error_.set(error, steady_ns());
  training_wake_.notify_all();
  communication_wake_.notify_all();
}

void Dispatcher::add_span(plan::OpRef ref, std::int64_t start_ns, OpSpan::Kind kind) {
  if (options_.record_spans) {
    spans_.push_back({ref, kind, start_ns, steady_ns()});
  }
}

std::int64_t Dispatcher::take_waited_ns() {
  const Lock lock(mutex_);
  return std::exchange(waited_ns_, 0);
}

std::int64_t Dispatcher::total_waited_ns() const {
  const Lock lock(mutex_);
  return total_waited_ns_;
}

std::vector<OpSpan> Dispatcher::take_spans() {
  const Lock lock(mutex_);
  return std::exchange(spans_, {});
}

}  // namespace paceline::execution
