// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/records/environment.h"

namespace paceline::records {

/// What nvidia-smi says of this machine's GPUs: facts, and the topology as its
/// `topo -m` draws it.  Where it does not answer, the facts say why; where
/// there is none, nothing is added.
void collect_gpus(const HostSources& sources, HostEnvironment& host);

}  // namespace paceline::records
