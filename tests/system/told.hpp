// What one member of a group was told, and the names of daemons whose trees have
// forwarders although the ring is small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/id.hpp"
#include "wire/control_messages.hpp"

namespace canopy::system_test {

struct Told {
  std::vector<std::uint64_t> numbers;  // that messages begin with, as they came
  std::vector<std::pair<std::uint64_t, std::uint64_t>> positions;
  std::vector<wire::control::Gap> gaps;
  std::uint64_t lost = 0;     // on the way
  std::uint64_t dropped = 0;  // for want of a quicker reader

  void note(const wire::control::Answer& answer);
  std::uint64_t in_gaps() const;  // of known ends
  std::uint64_t accounted() const { return numbers.size() + in_gaps() + lost + dropped; }
};

Id id_of_group(const std::string& name);

// First the members, who have no digit in common with the key and so are nobody's
// parent; then the hops, which share its first digit, so that the members' JOINs
// go through them.
std::vector<std::string> names_around(const Id& key, unsigned digit_bits, std::size_t members,
                                      std::size_t hops);

}  // namespace canopy::system_test
