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
  int image_size = 0;               // 0: the network's default
  int classes = 0;                  // 0: the network's default
  int sequence_length = 0;          // tokens; 0: the network's default
  bool zeros = false;               // for text networks: the words of ddl-benchmarks, see
                                    // make_batch
  std::optional<double> dropout{};  // null: the network's default
  // The following fields are for networks with embedding tables:
  int bags = 2;               // largest number of examples per batch
  int bag_width = 512;        // numbers that one example looks up in all tables together
  int bag_tables = 8;         // number of tables, which have equal widths
  bool has_one_relu = false;  // hybrid: one ReLU after the second layer, as in the original
};

/// The form of an example: a square image and its class.
struct ImageSample {
  int side = 224;
  int channels = 3;
  int classes = 1000;
  int least_side = 0;  // the smallest side that the network can read
};

/// The form of an example: a sequence of tokens, split into a first and a second sequence.
struct TextSample {
  int tokens = 64;         // both sequences together
  int vocabulary = 30522;  // number of words that occur
};

using SampleShape = std::variant<ImageSample, TextSample>;

struct NetworkInfo {
  std::string_view name;  // such as resnet50
  std::string_view summary;
  SampleShape sample;
  std::shared_ptr<Network> (*build)(const NetworkOptions&);  // all options of its sample are set

  /// Builds the network with its defaults for the options that are 0.  Throws UsageError as
  /// sample_of(), and if the image is too small for the network.
  std::shared_ptr<Network> make(NetworkOptions options) const;
};

/// Returns the form of the network's examples with these options.  Throws UsageError for an option
/// that such examples do not have, and for a negative value.
SampleShape sample_of(const NetworkInfo& info, const NetworkOptions& options);

/// Returns every built-in network without embedding tables, in the order of `paceline list`.
const std::vector<NetworkInfo>& networks();

/// Returns the networks whose first layer is embedding bags, which the plan computes
/// (strategies/sharded_embeddings.h).  Their dense input has `channels` numbers per example.
const std::vector<NetworkInfo>& embedding_networks();

/// Returns the network `name`, with or without embedding tables.  Throws UsageError that lists the
/// known names if there is none.
const NetworkInfo& find_network(std::string_view name);

/// Whether `name` is a network of this library that reads text.
bool reads_text(std::string_view name);

}  // namespace paceline::networks
