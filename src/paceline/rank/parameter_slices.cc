// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/parameter_slices.h"

#include <iterator>
#include <map>

namespace paceline::rank {

std::vector<plan::Slice> value_slices(const plan::Setup& setup,
                                      const std::function<bool(std::size_t parameter)>& holds) {
  std::vector<plan::Slice> slices;
  for (std::size_t p = 0; p < setup.parameters.size(); ++p) {
    if (holds(p)) {
      slices.push_back(setup.parameters[p].value);
    }
  }
  return slices;
}

std::vector<plan::Slice> padded_value_slices(
    const plan::Setup& setup, const std::function<bool(std::size_t parameter)>& holds) {
  std::map<plan::Elements, std::size_t> by_place;
  for (std::size_t p = 0; p < setup.parameters.size(); ++p) {
    by_place[setup.parameters[p].value.begin] = p;
  }
  std::vector<plan::Slice> slices;
  for (auto it = by_place.begin(); it != by_place.end(); ++it) {
    const auto buffer = setup.parameters[it->second].value.buffer;
    const plan::Elements end = std::next(it) == by_place.end()
                                   ? setup.buffers[plan::index_of(buffer)].elements
                                   : std::next(it)->first;
    if (holds(it->second)) {
      slices.push_back({buffer, it->first, end - it->first});
    }
  }
  return slices;
}

}  // namespace paceline::rank
