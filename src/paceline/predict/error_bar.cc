// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/error_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "paceline/cluster/collective_model.h"
#include "paceline/predict/engine_choice.h"
#include "paceline/predict/engines.h"
#include "paceline/predict/predict_request.h"
#include "paceline/predict/request_profile.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {
namespace {

/// Where the cells of a family ran, as the files of clusters/ describe it.
struct Place {
  std::string_view family, device;
  double least_bytes_per_s = 0, most_bytes_per_s = 0;  // of a host's network
  plan::Rank most_ranks = 0;
  std::string_view engine;
  bool adamw = false;              // beside SGD
  bool messages = false;           // it sends some
  double message_bytes_per_s = 0;  // behind the engine's start; 0: links price
};

constexpr double kGiga = 1e9;

constexpr std::array<Place, 5> kPlaces{{
    {.family = "merged",
     .device = "RTX 2080 Ti",
     .least_bytes_per_s = 1.2 * kGiga,
     .most_bytes_per_s = 12.5 * kGiga,
     .most_ranks = 32,
     .engine = "nccl",
     .adamw = true},
    {.family = "scheduled",
     .device = "RTX 2080 Ti",
     .least_bytes_per_s = 1.2 * kGiga,
     .most_bytes_per_s = 12.5 * kGiga,
     .most_ranks = 32,
     .engine = "bytescheduler",
     .adamw = true},
    {.family = "servers",
     .device = "RTX 2080 Ti",
     .least_bytes_per_s = 1.2 * kGiga,
     .most_bytes_per_s = 12.5 * kGiga,
     .most_ranks = 40,
     .engine = "byteps",
     .messages = true},
    {.family = "reducer",
     .device = "V100-SXM2-16GB",
     .least_bytes_per_s = 50 * kGiga,
     .most_bytes_per_s = 50 * kGiga,
     .most_ranks = 16,
     .engine = "nccl"},
    {.family = "neighbors",
     .device = "V100-SXM2-16GB",
     .least_bytes_per_s = 1.9 * kGiga,
     .most_bytes_per_s = 2.2 * kGiga,
     .most_ranks = 128,
     .engine = "bluefog",
     .messages = true,
     .message_bytes_per_s = 1.095 * kGiga},
}};

double message_seconds(std::int64_t bytes, const cluster::Machine& machine) {
  cluster::Price price;
  price.add(cluster::message_stage(bytes, true, machine));
  return plan::seconds_of(
      cluster::alone(price, {.ranks = 2, .hosts = 2}, machine));
}

/// Where a fit prices messages otherwise than at the place; empty: nowhere.
std::string unlike_messages(const Place& place,
                            const cluster::Machine& machine) {
  if (!place.messages) {
    return "";
  }
  if (place.message_bytes_per_s == 0) {
    return cluster::message_fit(true, machine) == nullptr
               ? ""
               : "a cluster's own fits of messages";
  }
  constexpr double kAlike = 0.1;
  const double start =
      plan::seconds_of(engine_costs_named(place.engine).costs.message);
  for (const std::int64_t bytes : {64 << 10, 4 << 20, 25 << 20}) {
    const double there =
        start + static_cast<double>(bytes) / place.message_bytes_per_s;
    const double here = message_seconds(bytes, machine);
    if (std::abs(here / there - 1) > kAlike) {
      return fmt::format(
          "messages of {} KiB that take {:.3g} ms", bytes >> 10, here * 1e3);
    }
  }
  return "";
}

/// How the cluster file's network is not as at the place, whatever an engine
/// makes of it.
std::string unlike_network(const Place& place,
                           const cluster::LinkModel& network) {
  const auto rate = static_cast<double>(network.bytes_per_s);
  if (rate < place.least_bytes_per_s || rate > place.most_bytes_per_s) {
    return fmt::format("family {} on {} behind {:.3g} GB/s",
                       place.family,
                       place.device,
                       rate / kGiga);
  }
  constexpr plan::Picoseconds kMostLatency = 100'000'000;
  if (network.latency > kMostLatency) {
    return fmt::format("networks of {:.0f} us a hop",
                       plan::seconds_of(network.latency) * 1e6);
  }
  return network.full_duplex ? "" : "half-duplex networks";
}

/// What of the request is not as at the place; empty: all of it is.
std::string unlike(const Place& place,
                   const PredictRequest& request,
                   const cluster::Machine& machine) {
  const std::string& device = request.cluster.device.name;
  if (device != place.device) {
    return device.empty()
               ? "devices without a name"
               : fmt::format("family {} on {}", place.family, device);
  }
  const bool crosses =
      cluster::ranks_per_host(request.cluster, request.ranks).size() > 1;
  if (!crosses) {
    return "ranks on one host";
  }
  if (request.noise.any()) {
    return "noise";
  }
  const std::string engine = engine_of(request.engine, request.cluster);
  if (!request.samples_per_s &&
      is_of_another_device(request.profile_device, request.cluster, engine)) {
    return fmt::format("layers timed on {}", request.profile_device);
  }
  std::string why = unlike_network(
      place, cluster::machine_of(request.cluster, place.engine).network);
  if (!why.empty()) {
    return why;
  }
  if (engine != place.engine) {
    return fmt::format("family {} with engine {}", place.family, engine);
  }
  if (request.optimizer != "sgd" &&
      !(place.adamw && request.optimizer == "adamw")) {
    return fmt::format(
        "family {} with optimizer {}", place.family, request.optimizer);
  }
  if (machine.algorithm == cluster::Algorithm::kMeasured) {
    return "a cluster's own fits";
  }
  if (machine.algorithm != engine_costs_named(engine).algorithm) {
    return fmt::format("--algorithm {}", cluster::name_of(machine.algorithm));
  }
  if (request.ranks > place.most_ranks) {
    return fmt::format("more than {} ranks", place.most_ranks);
  }
  return unlike_messages(place, machine);
}

}  // namespace

ErrorBar error_bar_of(const PredictRequest& request,
                      const cluster::Machine& machine) {
  if (request.machine || request.software) {
    return {};
  }
  if (!is_timed(request)) {
    return {.why = "layer times are a device's data sheet, not measured"};
  }
  const Examined* family = family_of(strategies::parse_strategy(
      request.strategy, {.bucket_mb = request.bucket_mb}));
  const auto* place =
      family == nullptr
          ? kPlaces.end()
          : std::ranges::find(kPlaces, family->family, &Place::family);
  const std::string why = place == kPlaces.end()
                              ? "such strategies"
                              : unlike(*place, request, machine);
  const bool examined = family != nullptr && why.empty();
  const Examined* of = examined ? family : &least_certain();
  return {.share = of->p90_percent / 100,
          .examined = examined,
          .of = of,
          .why = why};
}

std::optional<double> told_apart_by(const ErrorBar& one,
                                    const ErrorBar& other) {
  const bool compared = one.examined && other.examined && one.of != nullptr &&
                        one.of == other.of && one.of->pairs > 0;
  return compared ? std::optional(one.of->apart_percent / 100) : std::nullopt;
}

std::optional<double> sizes_told_apart_by(const ErrorBar& bar) {
  if (bar.known() && bar.of == nullptr) {
    return std::nullopt;
  }
  if (bar.examined && bar.of->of_sizes) {
    return told_apart_by(bar, bar);
  }
  double largest = 0;
  for (const Examined& family : examined()) {
    if (family.of_sizes) {
      largest = std::max(largest, family.apart_percent);
    }
  }
  return largest / 100;
}

std::optional<records::ErrorBar> recorded(const ErrorBar& bar,
                                          std::int64_t step_ns) {
  if (bar.silent()) {
    return std::nullopt;
  }
  records::ErrorBar out{.share = bar.share, .examined = bar.examined};
  out.why = bar.why;
  if (bar.known()) {
    const auto times = [step_ns](double factor) {
      return std::llround(static_cast<double>(step_ns) * factor);
    };
    out.low_ns = times(std::max(0.0, 1 - *bar.share));
    out.high_ns = times(1 + *bar.share);
  }
  if (bar.of != nullptr) {
    out.level = kExaminedLevel;
    out.of = bar.of->family;
    out.how = bar.of->how;
    out.cells = bar.of->cells;
  }
  return out;
}

}  // namespace paceline::predict
