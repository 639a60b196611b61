// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/link.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "paceline/base/clock.h"
#include "paceline/base/scheduling.h"

namespace paceline::engines {

Link::Link(const LinkSpec& spec) : now_([] { return steady_ns(); }), out_(spec), in_(spec) {
  thread_ = std::thread([this] { run(); });
}

Link::Link(const LinkSpec& spec, Now now) : now_(std::move(now)), out_(spec), in_(spec) {}

Link::~Link() {
  {
    const Lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

VirtualLink::Lane Link::add_lane(int concurrent, Direction direction) {
  const Lock lock(mutex_);
  return model(direction).add_lane(concurrent);
}

Link::Ticket Link::start(std::int64_t bytes, int latencies, Done done,
                         std::optional<LinkedOperationKey> name, VirtualLink::Lane lane) {
  const Lock lock(mutex_);
  const std::int64_t now = now_();
  Operation operation;
  operation.transfer = out_.start(now, bytes, latencies, lane);
  operation.issued_ns = now;
  operation.name = std::move(name);
  return add(std::move(operation), std::move(done));
}

Link::Ticket Link::add(Operation operation, Done done) {
  operation.done = std::move(done);
  operations_.emplace(next_, std::move(operation));
  wake_.notify_all();
  return next_++;
}

Link::Ticket Link::receive(IncomingMessage arrival, Done done) {
  Lock lock(mutex_);
  store_deliveries(lock);
  Operation operation;
  operation.direction = Direction::kIn;
  operation.transfer = in_.start(arrival.began_ns, arrival.bytes, 1, arrival.lane);
  operation.issued_ns = arrival.began_ns;
  operation.sender_end_ns = arrival.sender_end_ns;
  operation.name = std::move(arrival.name);
  return add(std::move(operation), std::move(done));
}

std::vector<std::int64_t> Link::delivery_times_of(const std::vector<Ticket>& tickets) {
  Lock lock(mutex_);
  store_deliveries(lock);
  std::vector<VirtualLink::Transfer> in_flight;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    const auto found = operations_.find(tickets[i]);
    if (found != operations_.end() && !found->second.delivered_ns) {
      in_flight.push_back(found->second.transfer);
      places.push_back(i);
    }
  }
  std::vector<std::int64_t> deliveries(tickets.size(), 0);
  const auto of_these = out_.delivery_times_of(in_flight);
  for (std::size_t i = 0; i < places.size(); ++i) {
    deliveries[places[i]] = of_these[i];
  }
  return deliveries;
}

void Link::engine_done(Ticket ticket, const std::exception_ptr& error) {
  Lock lock(mutex_);
  const auto found = operations_.find(ticket);
  if (found == operations_.end()) {
    return;
  }
  if (error != nullptr) {
    const Done done = std::move(found->second.done);
    operations_.erase(found);
    lock.unlock();
    done(error);
    return;
  }
  found->second.engine_ns = now_();
  lock.unlock();
  wake_.notify_all();
}

// Stores the delivery times of the operations that the emulated link has delivered by now.
void Link::store_deliveries(Lock& /*lock*/) {
  const std::int64_t now = now_();
  for (const Direction direction : {Direction::kOut, Direction::kIn}) {
    for (const auto& delivery : model(direction).advance(now)) {
      for (auto& [ticket, operation] : operations_) {
        if (operation.direction == direction && operation.transfer == delivery.transfer) {
          operation.delivered_ns = delivery.at_ns;
        }
      }
    }
  }
}

std::vector<Link::Done> Link::take_finished(Lock& lock) {
  store_deliveries(lock);
  const std::int64_t now = now_();
  std::vector<Done> finished;
  for (auto one = operations_.begin(); one != operations_.end();) {
    Operation& operation = one->second;
    if (!operation.delivered_ns || !operation.engine_ns || operation.sender_end_ns > now) {
      ++one;
      continue;
    }
    if (operation.name) {
      ended_[one->first] = {
          .name = *std::move(operation.name),
          .issued_ns = operation.issued_ns,
          .modelled_ns = std::max(*operation.delivered_ns, operation.sender_end_ns),
          .engine_ns = *operation.engine_ns};
    }
    finished.push_back(std::move(operation.done));
    one = operations_.erase(one);
  }
  return finished;
}

void Link::poll() {
  std::vector<Done> finished;
  {
    Lock lock(mutex_);
    finished = take_finished(lock);
  }
  for (const Done& done : finished) {
    done(nullptr);
  }
}

std::optional<std::int64_t> Link::next_event(Lock& /*lock*/) const {
  auto next = out_.next_delivery();
  if (const auto in = in_.next_delivery()) {
    next = std::min(next.value_or(*in), *in);
  }
  for (const auto& [ticket, operation] : operations_) {
    if (operation.delivered_ns && operation.engine_ns) {  // only the sender's link may still hold
                                                          // it
      next = std::min(next.value_or(operation.sender_end_ns), operation.sender_end_ns);
    }
  }
  return next;
}

void Link::run() {
  tighten_timer_slack();  // the default slack would add to the latency
  Lock lock(mutex_);
  while (!stop_) {
    const std::vector<Done> finished = take_finished(lock);
    if (!finished.empty()) {
      lock.unlock();
      for (const Done& done : finished) {
        done(nullptr);
      }
      lock.lock();
      continue;
    }
    const auto next = next_event(lock);
    if (!next) {
      wake_.wait(lock);
      continue;
    }
    if (const std::int64_t left = *next - now_(); left > 0) {
      wake_.wait_for(lock, std::chrono::nanoseconds(left));
    }
  }
}

std::vector<LinkedOperation> Link::take_operations() {
  const Lock lock(mutex_);
  std::vector<LinkedOperation> operations;
  for (auto& [ticket, operation] : ended_) {
    operations.push_back(std::move(operation));
  }
  ended_.clear();
  return operations;
}

}  // namespace paceline::engines
