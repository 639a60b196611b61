// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/legacy_names.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/case/field.h"

namespace paceline::cases {
namespace {

/// A flag of one of the benchmarks that Paceline reproduces, or of an earlier Paceline.
struct LegacyName {
  std::string_view name;  // with underscores
  std::string_view key;   // what it is here
  /// The end of "here it is ...", where that is more than the key's flag.
  std::string_view here = {};
};

// clang-format off
constexpr auto kNames = std::to_array<LegacyName>({
    // PyTorch's DDP benchmark, and its benchmark of DDP and RPC.
    {"distributed_backend", "engine"},
    {"bucket_size", "bucket_mb"},
    {"world_size", "ranks"},
    {"master_addr", "rendezvous", "'--rendezvous HOST:PORT'"},
    {"master_port", "rendezvous", "'--rendezvous HOST:PORT'"},
    {"number_trainers", "trainers"},
    {"number_ps", "servers"},
    {"number_embeddings", "embeddings"},
    {"warmup_cycles", "warmup", "'--warmup', which counts steps, 10 a cycle"},
    // BlueFog and ddl-benchmarks; --strategy knows the words of their values.
    {"dist_optimizer", "strategy"},
    {"atc_style", "strategy", "'+atc' in place of '+awc:window=backward' in '--strategy'"},
    {"disable_dynamic_topology", "strategy",
     "'topology=exp', an option of the exchange in '--strategy'"},
    {"num_warmup_batches", "warmup"},
    {"num_iters", "steps", "'--steps', which counts steps, 10 an iteration"},
    {"num_batches_per_iter", "steps",
     "'--steps', which counts all measured steps: iterations times the steps of one"},
    {"num_classes", "classes"},
    {"no_cuda", "device", "'--device cpu'"},
    {"profiler", "trace"},
    {"sentence_len", "sequence_length"},
    {"senlen", "sequence_length"},
    {"fp16_allreduce", "strategy", "the codec '+fp16' in '--strategy'"},
    {"fp16_pushpull", "strategy", "the codec '+fp16' in '--strategy'"},
    {"compressor", "strategy", "a codec in '--strategy'"},
    {"density", "strategy", "'+topk:density=D' in '--strategy'"},
    {"threshold", "strategy",
     "'fusion:bucket-mb=M' in '--strategy', in MiB and not in elements of 4 bytes; 0 is 'wfbp'"},
    {"partition", "strategy", "'partition-mb', an option of bytescheduler and ps in '--strategy'"},
    {"rdma", "link",
     "not needed: the network is that of '--interface' and '--engine', or the emulated one of "
     "'--link'"},
    {"use_adasum", "strategy", "not there, because no exchange of '--strategy' is Adasum"},
    {"fp16", "strategy",
     "the codec '+fp16' in '--strategy', or '--dtype amp' for the computation"},
    {"amp", "dtype", "'--dtype amp'"},
    {"use_amp", "dtype", "'--dtype amp'"},
    {"mgwfbp", "strategy", "'--strategy mg-wfbp:small-elements=8192'"},
    {"dnn", "model"},
    {"bs", "batch_size"},
    {"nworkers", "ranks"},
    // mpirun, bfrun and horovodrun.
    {"np", "ranks"},
    {"num_proc", "ranks"},
    {"network_interface", "interface"},
    {"timeline_filename", "trace"},
    // Earlier versions of Paceline.
    {"compat_zeros", "as_original"},
    {"compat_relu", "as_original"},
    {"compat_accumulate", "as_original"},
    {"row_gradients", "as_original", "'--as-original' for dense gradients of rows"},
    {"lookup", "as_original", "'--as-original' for sequential lookups"},
    {"sparse_engine", "engine", "'--engine', which carries rows too"},
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

}  // namespace

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
  return legacy == nullptr ? unknown_name("key", name, known)
                           : fmt::format("unknown key '{}'; here it is '{}'. Known: {}", name,
                                         legacy->key, fmt::join(known, ", "));
}

std::string unknown_flag(const std::string& flag, std::string_view command,
                         const std::vector<std::string>& known) {
  const std::string name = name_of(flag);
  const LegacyName* legacy = find_legacy_name(name);
  const Field* key = find_key(legacy == nullptr ? name : legacy->key);
  const bool taken = key != nullptr && std::ranges::find(known, flag_of(*key)) != known.end();
  if (key != nullptr && !taken) {
    return fmt::format("'{}' is {}; paceline {} does not take it", flag,
                       legacy == nullptr ? "a flag of paceline run"
                                         : fmt::format("'{}' of paceline run", flag_of(*key)),
                       command);
  }
  const std::vector<std::string> likely = likely_flags(flag, known);
  const std::string meant =
      legacy != nullptr
          ? fmt::format("; here it is {}", legacy->here.empty() ? fmt::format("'{}'", flag_of(*key))
                                                                : std::string(legacy->here))
      : likely.empty() ? ""
                       : fmt::format("; did you mean '{}'?", fmt::join(likely, "' or '"));
  return fmt::format("unknown flag '{}'{}{} paceline {} --help lists all", flag, meant,
                     meant.ends_with('?') ? "" : ";", command);
}

}  // namespace paceline::cases
