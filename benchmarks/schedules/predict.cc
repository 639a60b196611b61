// SPDX-License-Identifier: Apache-2.0
// What the schedules should take, and the profiles to check it with:
//
//   schedules_predict FOLDER RANKS
//
// writes FOLDER/NETWORK.profile.json for three networks on a GPU's roofline, and prints one line a
// case: network, wire/compute, link, strategy, and the predicted step, compute, wire, bound and
// sharper bound in ms, separated by tabs.
#include "paceline/predict/predict.h"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "overlap_bound.h"
#include "paceline/cluster/profile_file.h"
#include "paceline/plan/wire_bytes.h"

namespace {

using namespace paceline;

constexpr int kBatch = 16;

// A 2080 Ti's line rates (clusters/8x4-2080ti-10gbe.toml), one to a host.
cluster::Cluster cluster_of(double bytes_per_s, int ranks) {
  return cluster::parse_cluster(fmt::format(R"(
[[hosts]]
name = "node"
count = {}
slots = 1
[[links]]
joins = "hosts"
sharing = "host"
rate = "{:.0f}B/s"
latency = "20us"
[device]
name = "2080 Ti"
flops = "13.4TFLOP/s"
memory_bandwidth = "616GB/s"
)",
                                            ranks, bytes_per_s),
                                "schedules");
}

// Updates are left out of the profiles, so they are free here as well.
cluster::Cluster without_memory(cluster::Cluster cluster) {
  cluster.device.memory_bytes_per_s.reset();
  return cluster;
}

struct Subject {
  plan::NetworkShape network;
  plan::LayerProfile profile;
  double compute_s = 0;
  std::int64_t wire_bytes = 0;  // of a step
};

Subject subject_of(const std::string& name, int ranks) {
  Subject subject;
  subject.network = plan::network_shape(name);
  const predict::Prediction alone = predict::predict({.network = subject.network,
                                                      .cluster = cluster_of(1e9, ranks),
                                                      .strategy = "none",
                                                      .ranks = 1,
                                                      .batch_size = kBatch,
                                                      .engine = "ideal"});
  subject.profile = alone.costs.profile;
  subject.profile.origin = "roofline of a 2080 Ti, batch 16";
  subject.compute_s =
      plan::seconds_of(subject.profile.forward_total() + subject.profile.backward_total());
  std::int64_t payload = 0;
  for (const plan::ParameterShape& parameter : subject.network.model.parameters) {
    payload += parameter.elements * 4;
  }
  subject.wire_bytes = plan::wire_bytes(plan::Pattern::kAllReduce, payload, ranks);
  return subject;
}

void write_profile(const Subject& subject, const std::string& path) {
  std::ofstream(path) << cluster::to_json_text({.model = subject.network.model,
                                                .profile = subject.profile,
                                                .batch_size = kBatch,
                                                .device = "cuda",
                                                .update = std::nullopt,
                                                .memory = std::nullopt});
}

void predict_all(const Subject& subject, int ranks) {
  for (const double ratio : {0.25, 0.5, 1.0, 2.0, 4.0}) {
    const double rate = static_cast<double>(subject.wire_bytes) / (ratio * subject.compute_s);
    for (const char* strategy : {"bsp", "wfbp", "fusion", "mg-wfbp", "optimal-merge",
                                 "bytescheduler:queue=module", "dear"}) {
      const predict::Prediction p =
          predict::predict({.network = subject.network,
                            .cluster = without_memory(cluster_of(rate, ranks)),
                            .strategy = strategy,
                            .ranks = ranks,
                            .batch_size = kBatch,
                            .profile = subject.profile,
                            .engine = "link"});
      fmt::print("{}\t{}\t{:.0f}B/s,20us\t{}", subject.network.model.name, ratio, rate, strategy);
      const plan::Picoseconds sharper =
          p.bound.crosses_step ? simulator::overlap_bound_of(*p.job, p.costs, p.bound.step)
                               : p.bound.step;
      for (const plan::Picoseconds time :
           {p.times.step, p.bound.compute, p.bound.wire, p.bound.step, sharper}) {
        fmt::print("\t{:.3f}", plan::seconds_of(time) * 1e3);
      }
      fmt::print("\n");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: schedules_predict FOLDER RANKS\n");
    return 2;
  }
  try {
    const std::filesystem::path folder = argv[1];
    const int ranks = std::stoi(argv[2]);
    std::filesystem::create_directories(folder);
    for (const char* name : {"resnet50", "vgg16", "bert-base"}) {
      const Subject subject = subject_of(name, ranks);
      write_profile(subject, folder / fmt::format("{}.profile.json", name));
      predict_all(subject, ranks);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "schedules_predict: {}\n", error.what());
    return 1;
  }
  return 0;
}
