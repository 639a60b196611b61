// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/matching.h"

namespace paceline::plan {
namespace {

DType type_of(const Setup& setup, const Slice& slice) {
  return setup.buffers[index_of(slice.buffer)].dtype;
}

/// The n-th entry of the list for `key`; null if there is none.
template <class Map>
auto* nth(const Map& lists, const typename Map::key_type& key, std::size_t n) {
  const auto found = lists.find(key);
  return found != lists.end() && n < found->second.size() ? &found->second[n] : nullptr;
}

}  // namespace

void Endpoints::add(const Op& op, std::uint32_t item) {
  if (const auto* collective = std::get_if<Collective>(&op.work)) {
    collectives[collective->on].push_back(item);
  } else if (const auto* exchange = std::get_if<Exchange>(&op.work)) {
    for (std::uint32_t s = 0; s < exchange->sends.size(); ++s) {
      sends[{exchange->on, exchange->sends[s].peer}].push_back({item, s});
    }
    for (std::uint32_t s = 0; s < exchange->receives.size(); ++s) {
      receives[{exchange->on, exchange->receives[s].peer}].push_back({item, s});
    }
  }
}

const std::uint32_t* Endpoints::collective(CommunicatorId on, std::size_t n) const {
  return nth(collectives, on, n);
}

const Endpoints::End* Endpoints::message(const Peer& peer, bool sent, std::size_t n) const {
  return nth(sent ? sends : receives, peer, n);
}

CollectiveSignature signature_of(const Setup& setup, const Collective& collective) {
  return {collective.pattern,
          collective.reduce,
          collective.root,
          collective.in.count,
          collective.out.count,
          type_of(setup, collective.in),
          type_of(setup, collective.out)};
}

MessageSignature signature_of(const Setup& setup, const Message& message) {
  return {message.slice.count, type_of(setup, message.slice)};
}

}  // namespace paceline::plan
