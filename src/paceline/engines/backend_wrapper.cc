// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/backend_wrapper.h"

#include "paceline/plan/wire_bytes.h"

namespace paceline::engines {
namespace {

Operation collective(plan::Pattern pattern, std::vector<at::Tensor> payload) {
  return {.name = plan::name_of(pattern), .pattern = pattern, .payload = std::move(payload)};
}

}  // namespace

std::int64_t Operation::payload_bytes() const {
  std::int64_t bytes = 0;
  for (const at::Tensor& tensor : payload) {
    bytes += tensor.numel() * static_cast<std::int64_t>(tensor.element_size());
  }
  return bytes;
}

BackendWrapper::Work BackendWrapper::allreduce(std::vector<at::Tensor>& tensors,
                                               const c10d::AllreduceOptions& options) {
  Operation operation = collective(plan::Pattern::kAllReduce, tensors);
  operation.outputs = tensors;
  return perform(operation, [&] { return inner_->allreduce(tensors, options); });
}

BackendWrapper::Work BackendWrapper::broadcast(std::vector<at::Tensor>& tensors,
                                               const c10d::BroadcastOptions& options) {
  Operation operation = collective(plan::Pattern::kBroadcast, tensors);
  operation.outputs = tensors;
  return perform(operation, [&] { return inner_->broadcast(tensors, options); });
}

BackendWrapper::Work BackendWrapper::allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                               std::vector<at::Tensor>& inputs,
                                               const c10d::AllgatherOptions& options) {
  Operation operation = collective(plan::Pattern::kAllGather, {});
  for (const auto& list : outputs) {
    operation.payload.insert(operation.payload.end(), list.begin(), list.end());
  }
  operation.others = inputs;
  operation.outputs = operation.payload;
  return perform(operation, [&] { return inner_->allgather(outputs, inputs, options); });
}

BackendWrapper::Work BackendWrapper::_allgather_base(at::Tensor& output, at::Tensor& input,
                                                     const c10d::AllgatherOptions& options) {
  Operation operation = collective(plan::Pattern::kAllGather, {output});
  operation.others = {input};
  operation.outputs = {output};
  operation.flat = true;
  return perform(operation, [&] { return inner_->_allgather_base(output, input, options); });
}

BackendWrapper::Work BackendWrapper::_reduce_scatter_base(
    at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) {
  Operation operation = collective(plan::Pattern::kReduceScatter, {input});
  operation.others = {output};
  operation.outputs = {output};
  operation.flat = true;
  return perform(operation, [&] { return inner_->_reduce_scatter_base(output, input, options); });
}

BackendWrapper::Work BackendWrapper::send(std::vector<at::Tensor>& tensors, int to, int tag) {
  return perform({.name = "send",
                  .kind = Operation::Kind::kSend,
                  .peer = to,
                  .tag = tag,
                  .payload = tensors,
                  .outputs = tensors},
                 [&] { return inner_->send(tensors, to, tag); });
}

BackendWrapper::Work BackendWrapper::recv(std::vector<at::Tensor>& tensors, int from, int tag) {
  return perform({.name = "receive",
                  .kind = Operation::Kind::kReceive,
                  .peer = from,
                  .tag = tag,
                  .payload = tensors,
                  .outputs = tensors},
                 [&] { return inner_->recv(tensors, from, tag); });
}

}  // namespace paceline::engines
