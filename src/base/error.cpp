#include <string>

#include <canopy/error.hpp>

namespace canopy {

namespace {

const char* text_of(errc error) noexcept {
  switch (error) {
    case errc::not_active: return "this peer is not an active member of the ring yet";
    case errc::timed_out: return "no answer before the deadline";
    case errc::shutting_down: return "this peer is shutting down";
    case errc::name_conflict: return "another group has the same id: choose another name";
    case errc::no_such_group:
      return "no such group: nobody has created or joined it, or it was deleted";
    case errc::no_member: return "no member of the group took the message";
    case errc::too_large:
      return "the message is too large: its payload exceeds --limit-payload, or it has more "
             "than 64 headers, or 64 KiB of them";
    case errc::queue_full: return "a bounded queue is full: try again later";
    case errc::not_joined: return "this peer is not a member of the group";
    case errc::bad_name: return "a name must be 1 to 255 bytes of printable text";
    case errc::unreachable: return "the peer cannot be reached";
    case errc::protocol: return "the other side sent a malformed message";
    case errc::wrong_cluster: return "the other side belongs to another cluster";
    case errc::version: return "the other side speaks no common protocol version";
    case errc::limit: return "a configured limit is reached";
    case errc::denied:
      return "access denied: neither this peer nor a token that was given has the right: give one "
             "that has it (canopy: --token-file or CANOPY_TOKEN)";
    case errc::cancelled: return "cancelled";
    case errc::lost_root: return "the group's root went away before it acknowledged";
    case errc::busy: return "the same operation is under way already; wait for it";
    case errc::unsupported: return "the group's mode does not offer that";
    case errc::mode_conflict: return "the group exists already, in another mode";
    case errc::not_awaited: return "nobody waits for a reply to this message any more";
    case errc::lost_member:
      return "the member that had the request went away before it replied, and no other took it: "
             "ask again";
    case errc::conflict: return "somebody else has changed it meanwhile: look, and try again";
    case errc::unconfirmed:
      return "it is done, but not every peer that is to keep it has confirmed so: if the root "
             "fails now, it may be undone";
    case errc::chain_broken: return "not sent, as one before it in its chain has failed";
    case errc::no_such_queue: return "no such queue: create it first";
    case errc::no_such_bridge: return "the queue has no bridge to this group";
    case errc::unavailable:
      return "the queues take nothing at the moment (the daemon's /health says why): try again "
             "later";
  }
  return "unknown error";
}

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "canopy"; }
  std::string message(int value) const override { return text_of(static_cast<errc>(value)); }
};

}  // namespace

const boost::system::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

boost::system::error_code make_error_code(errc error) noexcept {
  return {static_cast<int>(error), error_category()};
}

}  // namespace canopy
