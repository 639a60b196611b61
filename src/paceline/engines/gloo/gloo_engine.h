// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace paceline::engines {

class Engine;

/// Makes the engine Gloo as the PyTorch wheel has it: TCP between CPUs.  CUDA tensors go through
/// host memory: c10d copies the tensors of collectives, HostStaging those of messages.
///
/// Gloo's reduce-scatter is an all-reduce internally (PyTorch 2.13; measured on the loopback): the
/// wire carries 2(P-1)/P S, whereas the ledger books the pattern's (P-1)/P S.  All-reduce and
/// all-gather carry the booked bytes.
std::unique_ptr<Engine> make_gloo_engine();

}  // namespace paceline::engines
