// What the table of links keeps with each of them.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <boost/system/error_code.hpp>

#include "base/peer.hpp"
#include "base/time.hpp"
#include "wire/group_dictionary.hpp"

namespace canopy::net {

class Link;
struct PeerEntry;

// The end of a seed's dial: the peer found there, or an error with its text.
using SeedDone =
    std::function<void(boost::system::error_code error, PeerRef peer, std::string_view text)>;

struct LinkUse {
  PeerEntry* entry = nullptr;  // while dialling: the peer wanted; then the one at the other end
  PeerRef peer;                // the descriptor that the Hello gave
  SeedDone seed_done;          // the link is dialled to whoever is there
  PeerEntry* challenged = nullptr;  // waits until this peer answers or does not
  bool handshake_counted = false;
  bool given_up = false;          // for want of progress
  std::weak_ptr<Link> successor;  // waits with reading until this link has been read to its end
  wire::SendDictionary send_groups;
  wire::ReceiveDictionary receive_groups;
  MonoTime established_at{};
  MonoTime last_used{};
};

}  // namespace canopy::net
