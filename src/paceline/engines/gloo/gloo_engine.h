// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace paceline::engines {

class Engine;

/// Gloo as the PyTorch wheel has it: TCP between CPUs.  CUDA tensors go
/// through host memory: those of collectives in c10d, those of messages in HostStaging.
///
/// Its reduce-scatter is an all-reduce inside (PyTorch 2.13; measured on the loopback): the wire
/// carries 2(P-1)/P S where the ledger books the pattern's (P-1)/P S.  All-reduce and all-gather
/// carry what is booked.
std::unique_ptr<Engine> make_gloo_engine();

}  // namespace paceline::engines
