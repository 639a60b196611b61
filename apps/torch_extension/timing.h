// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/extension.h>

#include "job.h"
#include "model.h"

// What a record of a network in Python has beside its steps.

namespace paceline::extension {

/// The bytes of the `steps` steps after those of count_from(), as the record's
/// `wire`.
py::dict wire_of(const Model& model, int steps);

/// Times steps with and without communication in turn; the lists of the record's samples.  `with`
/// and `without` have step() and drain().  `steps`: about how many.  Collective over the job.
py::dict timed_in_turn(Job& job, at::Device device, int steps, const py::object& with,
                       const py::object& without);

}  // namespace paceline::extension
