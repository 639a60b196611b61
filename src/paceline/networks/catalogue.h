// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace paceline::networks {

class Network;  // networks/network.h

struct NetworkOptions {
  int image_size = 0;               // 0: the network's own
  int classes = 0;                  // 0: the network's own
  int sequence_length = 0;          // tokens; 0: the network's own
  bool zeros = false;               // of texts, see make_batch
  std::optional<double> dropout{};  // null: the network's own
  // For networks with embedding tables:
  int bags = 2;           // samples of the largest batch
  int bag_width = 512;    // of a sample, all tables
  int bag_tables = 8;     // of equal width
  bool one_relu = false;  // hybrid: as the original, behind one layer alone
};

/// A square image and its class.
struct ImageSample {
  int side = 224;
  int channels = 3;
  int classes = 1000;
};

/// A sequence of tokens, with a second one after it.
struct TextSample {
  int tokens = 64;         // of both sequences together
  int vocabulary = 30522;  // words that occur
};

using Sample = std::variant<ImageSample, TextSample>;

struct NetworkInfo {
  std::string_view name;  // resnet50
  std::string_view summary;
  Sample sample;
  std::shared_ptr<Network> (*make)(const NetworkOptions&);
};

/// One sample of the network with these options.  Throws UsageError for an option that the
/// network's samples have not, and for a negative one.
Sample sample_of(const NetworkInfo& info, const NetworkOptions& options);

/// Every built-in network without embedding tables, in the order `paceline list` prints.
const std::vector<NetworkInfo>& networks();

/// Networks whose first layer are embedding bags, which a plan looks up
/// (strategies/sharded_embeddings.h).  Their input has `channels` numbers a sample.
const std::vector<NetworkInfo>& embedding_networks();

/// The network `name`, with embedding tables or without.  Throws UsageError that lists the known
/// names.
const NetworkInfo& find_network(std::string_view name);

/// Whether it is a network of this library that reads text.
bool reads_text(std::string_view name);

}  // namespace paceline::networks
