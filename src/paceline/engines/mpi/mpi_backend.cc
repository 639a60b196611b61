// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/mpi/mpi_backend.h"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "paceline/engines/mpi/mpi_call.h"
#include "paceline/engines/mpi/mpi_work.h"
#include "paceline/engines/mpi/types.h"

namespace paceline::engines::mpi {
namespace {

// An all-reduce is split into pieces of this size, so that a piece stays in a core's cache between
// the rounds of MPI's algorithm.
constexpr std::int64_t kAllReducePieceBytes = 4 << 20;

}  // namespace

MpiBackend::MpiBackend(Process& process, std::shared_ptr<Communicator> communicator, int rank,
                       int world, Limits limits)
    : c10d::Backend(rank, world),
      process_(process),
      communicator_(std::move(communicator)),
      limits_(limits) {}

MpiBackend::WorkPtr MpiBackend::start(Call call) {
  Operation operation{
      .requests = {},
      .what = fmt::format("{}, {} B, on '{}'", call.name, call.bytes, communicator_->name()),
      .limit = call.timeout == c10d::kUnsetTimeout ? limits_.timeout : call.timeout,
      .failed = &communicator_->failed};
  if (communicator_->failed) {
    std::rethrow_exception(failed_communicator_error(operation.what));
  }
  Requests requests(communicator_->handle(), limits_.count, operation.what);
  try {
    call.issue(requests);
  } catch (...) {
    // Requests that have begun cannot be withdrawn.  They become part of an operation that is
    // aborted at once and keeps their tensors.
    operation.requests = requests.take();
    operation.done = [keeps = std::move(call.keeps)](const std::exception_ptr& /*error*/) {};
    process_.progress().add(std::move(operation));
    fail(std::current_exception());
    throw;
  }
  operation.requests = requests.take();
  auto work = c10::make_intrusive<MpiWork>(call.type, std::move(call.outputs), process_.progress());
  operation.done = [work, finish = std::move(call.finish), keeps = std::move(call.keeps),
                    communicator = communicator_](const std::exception_ptr& error) {
    if (error) {
      communicator->failed = true;
    } else {
      for (const auto& part : finish) {
        part();
      }
    }
    work->end(error);
  };
  process_.progress().add(std::move(operation));
  return work;
}

void MpiBackend::fail(const std::exception_ptr& error) {
  communicator_->failed = true;
  process_.progress().abort(communicator_->failed, error);
}

void MpiBackend::abort() {
  fail(std::make_exception_ptr(
      std::runtime_error(fmt::format("'{}': was aborted on this rank", communicator_->name()))));
}

MpiBackend::WorkPtr MpiBackend::allreduce(std::vector<at::Tensor>& tensors,
                                          const c10d::AllreduceOptions& options) {
  const at::Tensor values = only(tensors);
  Call call{.type = c10d::OpType::ALLREDUCE,
            .name = "all-reduce",
            .bytes = values.nbytes(),
            .timeout = options.timeout,
            .outputs = {values},
            .keeps = {values}};
  call.issue = [data = bytes_of(values), count = values.numel(), size = values.element_size(),
                type = type_of(values), op = op_of(options.reduceOp, values)](Requests& requests) {
    requests.add_pieces(
        count,
        [&](std::int64_t begin, int n, auto* request) {
          return MPI_Iallreduce(MPI_IN_PLACE, data + begin * size, n, type, op, requests.comm(),
                                request);
        },
        kAllReducePieceBytes / size);
  };
  if (auto division = division_of(options.reduceOp, values, getSize())) {
    call.finish.push_back(std::move(division));
  }
  return start(std::move(call));
}

MpiBackend::WorkPtr MpiBackend::broadcast(std::vector<at::Tensor>& tensors,
                                          const c10d::BroadcastOptions& options) {
  const at::Tensor values = only(tensors);
  Call call{.type = c10d::OpType::BROADCAST,
            .name = "broadcast",
            .bytes = values.nbytes(),
            .timeout = options.timeout,
            .outputs = {values},
            .keeps = {values}};
  call.issue = [data = bytes_of(values), count = values.numel(), size = values.element_size(),
                type = type_of(values),
                root = static_cast<int>(options.rootRank)](Requests& requests) {
    requests.add_pieces(count, [&](std::int64_t begin, int n, auto* request) {
      return MPI_Ibcast(data + begin * size, n, type, root, requests.comm(), request);
    });
  };
  return start(std::move(call));
}

Call MpiBackend::message(const at::Tensor& values, c10d::OpType type, int peer, int tag) {
  TORCH_CHECK(tag >= 0, "engine mpi: ", tag, " is not a tag");
  const bool sends = type == c10d::OpType::SEND;
  Call call{.type = type,
            .name = sends ? "send" : "receive",
            .bytes = values.nbytes(),
            .outputs = {values},
            .keeps = {values}};
  // If MPI has fewer tags, messages of a pair whose tags coincide match in the order of calls.
  const auto bound = static_cast<std::int64_t>(communicator_->tag_bound());
  call.issue = [=, data = bytes_of(values), count = values.numel(), size = values.element_size(),
                of = type_of(values),
                own_tag = static_cast<int>(tag % (bound + 1))](Requests& requests) {
    const auto one = [&](std::int64_t begin, int n, MPI_Request* request) {
      return sends ? MPI_Isend(data + begin * size, n, of, peer, own_tag, requests.comm(), request)
                   : MPI_Irecv(data + begin * size, n, of, peer, own_tag, requests.comm(), request);
    };
    requests.add_pieces(count, one);
    if (count == 0) {
      requests.add([&](MPI_Request* request) { return one(0, 0, request); });
    }
  };
  return call;
}

MpiBackend::WorkPtr MpiBackend::send(std::vector<at::Tensor>& tensors, int to, int tag) {
  return start(message(only(tensors), c10d::OpType::SEND, to, tag));
}

MpiBackend::WorkPtr MpiBackend::recv(std::vector<at::Tensor>& tensors, int from, int tag) {
  return start(message(only(tensors), c10d::OpType::RECV, from, tag));
}

MpiBackend::WorkPtr MpiBackend::barrier(const c10d::BarrierOptions& options) {
  Call call{.type = c10d::OpType::BARRIER, .name = "barrier", .timeout = options.timeout};
  call.issue = [](Requests& requests) {
    requests.add([&](MPI_Request* request) { return MPI_Ibarrier(requests.comm(), request); });
  };
  return start(std::move(call));
}

}  // namespace paceline::engines::mpi
