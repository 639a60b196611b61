// SPDX-License-Identifier: Apache-2.0
// All-gather and reduce-scatter of MpiBackend (engines/mpi/mpi_backend.h).
#include <algorithm>

#include <ATen/Functions.h>

#include "paceline/engines/mpi/mpi_backend.h"
#include "paceline/engines/mpi/mpi_call.h"
#include "paceline/engines/mpi/types.h"

namespace paceline::engines::mpi {

MpiBackend::WorkPtr MpiBackend::allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                          std::vector<at::Tensor>& inputs,
                                          const c10d::AllgatherOptions& options) {
  const at::Tensor own = only(inputs);
  TORCH_CHECK(outputs.size() == 1 && outputs[0].size() == static_cast<std::size_t>(getSize()),
              "engine mpi: all-gather into a list needs a tensor a rank");
  const std::int64_t n = own.numel();
  const at::Tensor whole = at::empty({getSize() * n}, own.options());
  Call call = all_gather(whole, own, options.timeout);
  call.outputs = outputs[0];
  for (int rank = 0; rank < getSize(); ++rank) {
    const at::Tensor& out = outputs[0][static_cast<std::size_t>(rank)];
    call.finish.push_back(copy_of(whole.narrow(0, rank * n, n).view(out.sizes()), out));
  }
  return start(std::move(call));
}

MpiBackend::WorkPtr MpiBackend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                                const c10d::AllgatherOptions& options) {
  return start(all_gather(output, input, options.timeout));
}

Call MpiBackend::all_gather(const at::Tensor& out, const at::Tensor& in,
                            std::chrono::milliseconds timeout) {
  const std::int64_t n = in.numel();
  TORCH_CHECK(out.numel() == n * getSize(), "engine mpi: all-gather of ", n, " elements into ",
              out.numel());
  // MPI allows an input that already lies at its position in the output, but no other overlap.
  char* const place = bytes_of(out) + getRank() * in.nbytes();
  const at::Tensor own = overlap(in, out) && bytes_of(in) != place ? in.clone() : in;
  Call call{.type = c10d::OpType::ALLGATHER,
            .name = "all-gather",
            .bytes = out.nbytes(),
            .timeout = timeout,
            .outputs = {out},
            .keeps = {own, out}};
  call.issue = [=, this, from = bytes_of(own), to = bytes_of(out)](Requests& requests) {
    const auto type = type_of(own);
    const auto size = own.element_size();
    if (requests.fits(n)) {
      const int count = static_cast<int>(n);
      requests.add([&](MPI_Request* request) {
        return MPI_Iallgather(from == place ? MPI_IN_PLACE : from, count, type, to, count, type,
                              requests.comm(), request);
      });
      return;
    }
    if (from != place) {
      std::copy_n(from, own.nbytes(), place);
    }
    for (int root = 0; root < getSize(); ++root) {
      requests.add_pieces(n, [&](std::int64_t begin, int count, auto* request) {
        return MPI_Ibcast(to + (root * n + begin) * size, count, type, root, requests.comm(),
                          request);
      });
    }
  };
  return call;
}

MpiBackend::WorkPtr MpiBackend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                     const c10d::ReduceScatterOptions& options) {
  const std::int64_t n = output.numel();
  TORCH_CHECK(input.numel() == n * getSize(), "engine mpi: reduce-scatter of ", input.numel(),
              " elements into ", n);
  // MPI allows only the overlap of MPI_IN_PLACE, whose layout does not fit here; so an output that
  // overlaps the input gets a separate tensor.
  const at::Tensor out = overlap(input, output) ? at::empty_like(output) : output;
  Call call{.type = c10d::OpType::REDUCE_SCATTER,
            .name = "reduce-scatter",
            .bytes = input.nbytes(),
            .timeout = options.timeout,
            .outputs = {output},
            .keeps = {input, out}};
  call.issue = [=, this, from = bytes_of(input), to = bytes_of(out), size = input.element_size(),
                type = type_of(input), op = op_of(options.reduceOp, input)](Requests& requests) {
    if (requests.fits(n)) {
      requests.add([&](MPI_Request* request) {
        return MPI_Ireduce_scatter_block(from, to, static_cast<int>(n), type, op, requests.comm(),
                                         request);
      });
      return;
    }
    for (int root = 0; root < getSize(); ++root) {
      requests.add_pieces(n, [&](std::int64_t begin, int count, auto* request) {
        return MPI_Ireduce(from + (root * n + begin) * size, to + begin * size, count, type, op,
                           root, requests.comm(), request);
      });
    }
  };
  if (auto division = division_of(options.reduceOp, out, getSize())) {
    call.finish.push_back(std::move(division));
  }
  if (!out.is_same(output)) {
    call.finish.push_back(copy_of(out, output));
  }
  return start(std::move(call));
}

}  // namespace paceline::engines::mpi
