// Messages to one member of a group, and requests that members reply to. Plain
// values.
//
// Nearest first: a message to one member goes to the one that is nearest to the
// sender in the group's tree, as long as it has room. Members that compete for
// messages share them when the nearest is busy: by the bounds of their queues, or
// by how many requests each takes at once (JoinOptions).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <canopy/inspect.hpp>
#include <canopy/message.hpp>
#include <canopy/payload.hpp>

namespace canopy {

struct AnycastOptions {
  Headers headers = {};
  // Until when a member has to have taken it. 0: 5 s, with Profile::wan 15 s.
  std::chrono::milliseconds within{0};
  // While there is no member that has room, look again until then.
  bool wait_for_member = false;
  std::string token = {};  // for the right to publish, where the group's access list asks for one
};

struct AnycastResult {
  MessageId id;
  PeerInfo member;  // that took it
};

enum class Audience : std::uint8_t {
  one,  // member, as an anycast
  all,  // members
};

struct RequestOptions {
  Audience to = Audience::one;
  Headers headers = {};
  // Until when replies are waited for. 0: 10 s, with Profile::wan 30 s.
  std::chrono::milliseconds within{0};
  // To one member: while there are members, but none has room, look again until then.
  bool wait_for_member = true;
  // To all: complete after so many that say that all went well; 0: as many as come.
  std::size_t replies = 0;
  // More are dropped, and counted.
  std::size_t replies_max = 1000;
  std::size_t replies_bytes_max = std::size_t{16} << 20;  // headers and payloads
  std::string token = {};                                 // as in AnycastOptions
};

struct Reply {
  PeerInfo peer;             // of the subscriber who replied
  std::uint32_t status = 0;  // his own word; 0: all went well
  Headers headers;
  Payload payload;
};

struct RequestResult {
  MessageId id;                // which the members see
  std::vector<Reply> replies;  // in the order in which they came
  // To all: peers that are members and have got the request, once that is known.
  std::optional<std::uint64_t> members;
  // To all: all of these have said their last.
  bool complete = false;
  std::uint64_t declined = 0;  // words of members that they will not reply
  std::uint64_t dropped = 0;   // replies, beyond the bounds
};

struct ReplyOptions {
  Headers headers = {};
  std::uint32_t status = 0;  // for the asker; 0: all went well
};

}  // namespace canopy
