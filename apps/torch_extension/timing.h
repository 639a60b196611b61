// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/extension.h>

#include "job.h"
#include "model.h"

// The parts of a record of a Python network beside its step times: bytes, and steps without
// communication.

namespace paceline::extension {

/// Returns the bytes of the `steps` steps after those of count_from(), in the form of the record's
/// `wire`.
py::dict wire_bytes_of(const Model& model, int steps);

/// Times steps with and without communication in turn, and returns these times as the lists of the
/// record's samples. `with` and `without` are Python objects with step() and drain(). About `steps`
/// steps are timed. Collective over the job.
py::dict timed_in_turn(Job& job, at::Device device, int steps, const py::object& with,
                       const py::object& without);

}  // namespace paceline::extension
