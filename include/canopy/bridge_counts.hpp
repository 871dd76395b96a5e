// What a bridge has counted. A plain value, which every layer knows.
#pragma once

#include <cstdint>

namespace canopy {

// Multicasts since the bridge was added, however often the process began anew.
struct BridgeCounts {
  std::uint64_t sent = 0;        // they became messages
  std::uint64_t duplicates = 0;  // came again: not sent
  std::uint64_t late = 0;        // too old to tell whether they had come: not sent
  // Numbers of publishers that were passed over: multicasts that never came, that
  // were lost or refused, or that were meant for other groups, since publishers
  // count over all groups.
  std::uint64_t unseen = 0;
  std::uint64_t lost = 0;              // came faster than the queue took them
  std::uint64_t refused = 0;           // larger than the queue's messages may be, or empty
  std::uint64_t encoded = 0;           // came in base64
  std::uint64_t headers_left_out = 0;  // that cannot be attributes
  friend bool operator==(const BridgeCounts&, const BridgeCounts&) = default;
};

// Calls use(name, member) for each: the text that people see, and a pointer to the
// member. The order is that of what is on the disk.
template <class Use>
void for_each_count(Use use) {
  use("sent", &BridgeCounts::sent);
  use("duplicates", &BridgeCounts::duplicates);
  use("late", &BridgeCounts::late);
  use("unseen", &BridgeCounts::unseen);
  use("lost", &BridgeCounts::lost);
  use("refused", &BridgeCounts::refused);
  use("encoded", &BridgeCounts::encoded);
  use("headers_left_out", &BridgeCounts::headers_left_out);
}

}  // namespace canopy
