// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/legacy_names.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/ddl_names.h"
#include "paceline/base/text.h"
#include "paceline/case/field.h"

namespace paceline::cases {
namespace {

/// A flag of one of the benchmarks that Paceline reproduces, or of an earlier Paceline.
struct LegacyName {
  std::string_view name;  // with underscores
  std::string_view key;   // what it is here
  /// One there is so many here, and of what: "steps, 10 a cycle".
  int times = 1;
  std::string_view counts = {};
  /// The value here, where that does not follow from the value there.
  std::string_view value = {};
  /// The value here of a value there; empty: it is not known.  Null: the same.
  std::string (*value_of)(const std::string& theirs) = nullptr;
  /// A sentence's end in place of all that: what to write in which flag.
  std::string_view remark = {};
};

std::string strategy_of_optimizer(const std::string& theirs) {
  const DdlName* found = find_ddl_name(kBluefogOptimizers, theirs);
  return found == nullptr ? "" : fmt::format("{}{}", found->ours, found->options);
}

std::string strategy_of_compressor(const std::string& theirs) {
  const DdlName* codec = find_ddl_name(kDdlCompressors, theirs);
  return codec != nullptr ? fmt::format("bsp+{}", codec->ours) : theirs == "none" ? "bsp" : "";
}

std::string strategy_of_density(const std::string& theirs) {
  return fmt::format("bsp+topk:density={}", theirs);
}

// Elements of fp32 that are merged at least.
std::string strategy_of_threshold(const std::string& theirs) {
  constexpr std::int64_t kMebi = 1 << 20;
  constexpr std::int64_t kAll = 536'870'912;
  const auto elements = number_from<std::int64_t>(theirs);
  return !elements || *elements < 0 ? ""
         : *elements == 0           ? "wfbp"
         : *elements >= kAll
             ? "bsp"
             : fmt::format("fusion:bucket-mb={}", static_cast<double>(*elements) * 4 / kMebi);
}

std::string model_of_network(const std::string& theirs) { return our_name(kDdlModels, theirs); }

constexpr std::string_view kCycles = "steps, 10 a cycle";
constexpr std::string_view kIterations = "steps, 10 an iteration";

// clang-format off
constexpr auto kNames = std::to_array<LegacyName>({
    // PyTorch's DDP benchmark, and its benchmark of DDP and RPC.
    {.name = "distributed_backend", .key = "engine"},
    {.name = "bucket_size", .key = "bucket_mb"},
    {.name = "world_size", .key = "ranks"},
    {.name = "master_addr", .key = "rendezvous", .value = "HOST:PORT"},
    {.name = "master_port", .key = "rendezvous", .value = "HOST:PORT"},
    {.name = "number_trainers", .key = "trainers"},
    {.name = "number_ps", .key = "servers"},
    {.name = "number_embeddings", .key = "embeddings"},
    {.name = "warmup_cycles", .key = "warmup", .times = 10, .counts = kCycles},
    // BlueFog and ddl-benchmarks.
    {.name = "dist_optimizer", .key = "strategy",
     .value_of = strategy_of_optimizer},
    {.name = "atc_style", .key = "strategy",
     .remark = "'+atc' in place of '+awc:window=backward' in '--strategy'"},
    {.name = "disable_dynamic_topology", .key = "strategy",
     .remark = "'topology=exp', an option of the exchange in '--strategy'"},
    {.name = "num_warmup_batches", .key = "warmup"},
    {.name = "num_iters", .key = "steps", .times = 10, .counts = kIterations},
    {.name = "num_batches_per_iter", .key = "steps",
     .remark = "'--steps', which counts all measured steps: iterations times "
               "the steps of one"},
    {.name = "num_classes", .key = "classes"},
    {.name = "no_cuda", .key = "device", .value = "cpu"},
    {.name = "profiler", .key = "trace", .value = "FILE"},
    {.name = "sentence_len", .key = "sequence_length"},
    {.name = "senlen", .key = "sequence_length"},
    {.name = "fp16_allreduce", .key = "strategy",
     .remark = "the codec '+fp16' in '--strategy'"},
    {.name = "fp16_pushpull", .key = "strategy",
     .remark = "the codec '+fp16' in '--strategy'"},
    {.name = "compressor", .key = "strategy", .value_of = strategy_of_compressor},
    {.name = "density", .key = "strategy", .value_of = strategy_of_density},
    {.name = "threshold", .key = "strategy",
     .value_of = strategy_of_threshold},
    {.name = "partition", .key = "strategy",
     .remark = "'partition-mb', an option of bytescheduler and ps in "
               "'--strategy'"},
    {.name = "rdma", .key = "link",
     .remark = "not needed: the network is that of '--interface' and "
               "'--engine', or the emulated one of '--link'"},
    {.name = "use_adasum", .key = "strategy",
     .remark = "not there, because no exchange of '--strategy' is Adasum"},
    {.name = "fp16", .key = "strategy",
     .remark = "the codec '+fp16' in '--strategy', or '--dtype amp' for the "
               "computation"},
    {.name = "amp", .key = "dtype", .value = "amp"},
    {.name = "use_amp", .key = "dtype", .value = "amp"},
    {.name = "mgwfbp", .key = "strategy",
     .value = "mg-wfbp:small-elements=8192"},
    {.name = "dnn", .key = "model", .value_of = model_of_network},
    {.name = "bs", .key = "batch_size"},
    {.name = "nworkers", .key = "ranks"},
    // mpirun, bfrun and horovodrun.
    {.name = "np", .key = "ranks"},
    {.name = "num_proc", .key = "ranks"},
    {.name = "network_interface", .key = "interface"},
    {.name = "timeline_filename", .key = "trace"},
    // Earlier versions of Paceline.
    {.name = "compat_zeros", .key = "as_original"},
    {.name = "compat_relu", .key = "as_original"},
    {.name = "compat_accumulate", .key = "as_original"},
    {.name = "row_gradients", .key = "as_original",
     .remark = "'--as-original' for dense gradients of rows"},
    {.name = "lookup", .key = "as_original",
     .remark = "'--as-original' for sequential lookups"},
    {.name = "sparse_engine", .key = "engine",
     .remark = "'--engine', which carries rows too"},
});
// clang-format on

/// The row of a name with underscores, or null.
const LegacyName* find_legacy_name(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name, &LegacyName::name);
  return found == kNames.end() ? nullptr : found;
}

std::string name_of(std::string_view flag) {
  std::string name(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())));
  std::ranges::replace(name, '-', '_');
  return name;
}

/// The value here; empty where it is not known.
std::string value_here(const LegacyName& legacy, const std::optional<std::string>& value) {
  if (!legacy.value.empty()) {
    return std::string(legacy.value);
  }
  if (!value) {
    return "";
  }
  if (legacy.value_of != nullptr) {
    return legacy.value_of(*value);
  }
  if (legacy.times == 1) {
    return *value;
  }
  const auto number = number_from<int>(*value);
  return number ? fmt::format("{}", std::int64_t{*number} * legacy.times) : "";
}

/// The flags, at most two, that `flag` was most likely meant to be: those that begin with it, else
/// the nearest ones.
std::vector<std::string> likely_flags(const std::string& flag,
                                      const std::vector<std::string>& known) {
  constexpr std::size_t kMost = 2;
  std::vector<std::string> longer;
  for (const std::string& name : known) {
    if (name.starts_with(flag) && flag.find_first_not_of('-') < flag.size()) {
      longer.push_back(name);
    }
  }
  std::vector<std::string> likely = longer.empty() ? nearest_names(flag, known) : longer;
  std::ranges::stable_sort(likely, {}, &std::string::size);
  likely.resize(std::min(likely.size(), kMost));
  return likely;
}

/// What to type in its place, as the end of "here it is ...": "'--steps 100', which counts steps,
/// 10 an iteration".  `of` follows the flag.
std::string typed_here(const LegacyName& legacy, const std::optional<std::string>& value,
                       std::string_view of = "") {
  if (!legacy.remark.empty()) {
    return fmt::format("{}{}", legacy.remark, of);
  }
  const std::string here = value_here(legacy, value);
  return fmt::format("'{}{}{}'{}{}{}", flag_of(*find_key(legacy.key)), here.empty() ? "" : " ",
                     here, of, legacy.counts.empty() ? "" : ", which counts ", legacy.counts);
}

}  // namespace

bool is_legacy_flag(std::string_view flag) { return find_legacy_name(name_of(flag)) != nullptr; }

std::string unknown_key(const std::string& name, bool with_tables) {
  std::vector<std::string> known;
  for (const Field& key : keys()) {
    if (key.in_file) {
      known.emplace_back(key.name);
    }
  }
  if (with_tables) {
    known.insert(known.end(), {"case", "sweep"});
  }
  const LegacyName* legacy = find_legacy_name(name);
  return legacy == nullptr
             ? unknown_name("key", name, known)
             : fmt::format("unknown key '{}'; here it is '{}'{}{}. Known: {}", name, legacy->key,
                           legacy->counts.empty() ? "" : ", which counts ", legacy->counts,
                           fmt::join(known, ", "));
}

std::string unknown_flag(const std::string& flag, std::string_view command,
                         const std::vector<std::string>& known,
                         const std::optional<std::string>& value) {
  const std::string name = name_of(flag);
  const LegacyName* legacy = find_legacy_name(name);
  const Field* key = find_key(legacy == nullptr ? name : legacy->key);
  const bool taken = key != nullptr && std::ranges::find(known, flag_of(*key)) != known.end();
  if (key != nullptr && !taken) {
    return fmt::format("'{}' is {}; paceline {} does not take it", flag,
                       legacy == nullptr ? "a flag of paceline run"
                                         : typed_here(*legacy, value, " of paceline run"),
                       command);
  }
  const std::vector<std::string> likely = likely_flags(flag, known);
  const std::string meant =
      legacy != nullptr ? fmt::format("; here it is {}", typed_here(*legacy, value))
      : likely.empty()  ? ""
                        : fmt::format("; did you mean '{}'?", fmt::join(likely, "' or '"));
  return fmt::format("unknown flag '{}'{}{} paceline {} --help lists all", flag, meant,
                     meant.ends_with('?') ? "" : ";", command);
}

}  // namespace paceline::cases
