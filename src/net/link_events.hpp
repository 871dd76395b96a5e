// What the links tell the layer above. Calls come from the loop, never from
// inside a call of Links; they may call Links again, but not destroy it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/peer.hpp"
#include "wire/hello.hpp"
#include "wire/message.hpp"

namespace canopy::net {

enum class Disconnect : std::uint8_t {
  closed,     // by the other side, in order: it left, or had no use for the link
  idle,       // by this side, for want of use
  broken,     // reset, timed out, or cut in the middle of a frame
  stalled,    // by this side: the peer read nothing for too long
  malformed,  // by this side: the peer sent nonsense
  refused,    // the peer has second thoughts; rejected() says which
  restarted,  // the peer has started anew and has another PeerRef
};

std::string_view to_string(Disconnect reason) noexcept;

// A handshake that ended in a refusal by either side.
struct Rejection {
  Endpoint remote;
  wire::RejectCode code = wire::RejectCode::malformed;
  std::string text;  // for people: what differs, or whose fault it is
};

class LinkEvents {
 public:
  virtual void received(PeerRef from, wire::Message message) = 0;

  // There is a link, where none was; comes before the first received(). The
  // Hello says, among other things, to which cluster the peer belongs.
  virtual void connected(PeerRef peer, const wire::Hello& hello) = 0;

  // There is no link any more; for `closed` and `idle` that need not mean that
  // anything is wrong. What the peer had sent before may still come after it.
  virtual void disconnected(PeerRef peer, Disconnect reason) = 0;

  // A dial has failed, or the peer turned out to be another process than the
  // descriptor says. Told at every failure, while something is queued.
  virtual void unreachable(PeerRef peer, std::string_view text) = 0;

  // Of a link that this side dialled; and with `duplicate_name` when another
  // process, up for longer, has this one's name.
  virtual void rejected(const Rejection& rejection) = 0;

  // Whether to keep a link that has been idle for long.
  virtual bool wanted(PeerRef peer) = 0;

 protected:
  ~LinkEvents() = default;
};

}  // namespace canopy::net
