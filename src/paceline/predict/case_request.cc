// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/case_request.h"

#include <cmath>
#include <utility>

#include "paceline/cluster/link_spec.h"
#include "paceline/plan/optimizer.h"

namespace paceline::predict {

PredictRequest request_of(const cases::Case& c, cluster::Cluster cluster) {
  PredictRequest request{.cluster = std::move(cluster),
                         .strategy = c.strategy,
                         .bucket_mb = c.bucket_mb,
                         .ranks = c.ranks,
                         .batch_size = c.batch_size,
                         .accumulate = c.accumulate,
                         .optimizer = plan::update_rule_of(c.optimizer),
                         .engine = c.engine};
  if (!c.link.empty()) {
    set_emulated_link(c.link, request);
  }
  return request;
}

void set_profile(cluster::ProfiledModel profiled, PredictRequest& request) {
  request.network.model = std::move(profiled.model);
  request.profile = std::move(profiled.profile);
  request.profile_device = profiled.device;
  request.update = profiled.update;
  request.codecs = std::move(profiled.codecs);
}

void set_emulated_link(const std::string& link, PredictRequest& request) {
  const cluster::LinkSpec spec = cluster::parse_link("link", link);
  cluster::Machine& machine = request.machine.emplace();
  machine.device = machine.network = {.bytes_per_s = std::llround(spec.bytes_per_s),
                                      .latency = spec.latency_ns * plan::kPicosecondsPerNanosecond,
                                      .sharing = cluster::LinkSharing::kDevice};
  machine.servers_have_links = true;
  request.engine = "link";
}

void set_dtype(const std::string& dtype, PredictRequest& request) {
  if (const auto type = cluster::type_named(dtype == "amp" ? "fp32" : dtype)) {
    request.network.model.dtype = *type;
  }
}

}  // namespace paceline::predict
