// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include "paceline/engines/mpi/progress.h"

namespace paceline::engines::mpi {

/// The MPI requests of one operation, which is split where MPI cannot count its elements.
class Requests {
 public:
  Requests(MPI_Comm comm, std::int64_t most, std::string what)
      : comm_(comm), most_(most), what_(std::move(what)) {}

  MPI_Comm comm() const { return comm_; }
  bool fits(std::int64_t count) const { return count <= most_; }

  template <class MpiCall>
  void add(const MpiCall& call) {
    all_.push_back(MPI_REQUEST_NULL);
    check(call(&all_.back()), what_);
  }

  /// Calls call(first element, number of elements, request) for each piece of an operation. A piece
  /// is small enough for MPI's integer counts and has at most `longest` elements.
  template <class MpiCall>
  void add_pieces(std::int64_t count, const MpiCall& call,
                  std::int64_t longest = std::numeric_limits<int>::max()) {
    const std::int64_t most = std::min(most_, longest);
    for (std::int64_t begin = 0; begin < count; begin += most) {
      add([&](MPI_Request* request) {
        return call(begin, static_cast<int>(std::min(most, count - begin)), request);
      });
    }
  }

  std::vector<MPI_Request> take() { return std::move(all_); }

 private:
  MPI_Comm comm_;
  std::int64_t most_;
  std::string what_;
  std::vector<MPI_Request> all_;
};

/// Describes an operation that is to be started on MPI.
struct Call {
  c10d::OpType type = c10d::OpType::UNKNOWN;
  const char* name = "";
  std::size_t bytes = 0;
  std::chrono::milliseconds timeout = c10d::kUnsetTimeout;
  std::vector<at::Tensor> outputs{};  // results of the work
  std::vector<at::Tensor> keeps{};    // input and output tensors, kept alive until MPI has finished
                                      // with them
  std::function<void(Requests&)> issue{};
  std::vector<std::function<void()>> finish{};  // calls after the last request has ended
};

/// Returns the only tensor of a call; throws if there are several.
at::Tensor only(const std::vector<at::Tensor>& tensors);

/// Returns a pointer to the first byte.  Throws if the tensor is not contiguous on the CPU.
char* bytes_of(const at::Tensor& values);

bool overlap(const at::Tensor& a, const at::Tensor& b);

/// Returns a function that divides the values by `world` in place; null if the reduction is no
/// mean.
std::function<void()> division_of(const c10d::ReduceOp& reduce, const at::Tensor& values,
                                  int world);

std::function<void()> copy_of(const at::Tensor& from, const at::Tensor& to);

}  // namespace paceline::engines::mpi
