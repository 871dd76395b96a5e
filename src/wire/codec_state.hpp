// What the conversion of one message carries along: the tables it looks into,
// the body it passes by, and the first thing that was wrong. Used by the
// codec's own source files only; Protobuf types are merely named here.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <canopy/error.hpp>

#include "base/peer.hpp"
#include "wire/codec.hpp"

namespace canopy::overlay {
class Peer;
class TableRow;
class GroupName;
class MessageId;
class GroupState;
class Position;
class Reach;
class LostSubtree;
class Grant;
class AccessList;
class Proof;
}  // namespace canopy::overlay

namespace canopy::wire::detail {

std::string bytes_of(const Id& id);
std::string bytes_of(const Buffer& buffer);

// From structs to Protobuf. Without dictionary, group ids go as they are.
class Writer {
 public:
  Writer(const PeerTable& peers, SendDictionary* groups) noexcept
      : peers_(peers), groups_(groups) {}

  Buffer body;

  // Why the message cannot be sent.
  const std::optional<errc>& error() const noexcept { return error_; }

  // The group whose number is defined by this message.
  const std::optional<Id>& defined() const noexcept { return defined_; }

  const PeerTable& peers() const noexcept { return peers_; }

  void put(overlay::Peer* to, PeerRef from);
  void put(overlay::TableRow* to, const TableRow& from);
  void put(overlay::GroupName* to, const GroupName& from);
  void put(overlay::MessageId* to, const MessageId& from);
  void put(overlay::GroupState* to, const GroupState& from);
  void put(overlay::Position* to, const Position& from);
  void put(overlay::LostSubtree* to, const LostSubtree& from);
  void put(overlay::Reach* to, const Reach& from);
  void put(overlay::Grant* to, const Grant& from);
  void put(overlay::AccessList* to, const AccessList& from);
  void put(overlay::Proof* to, const Proof& from);

  // Not at all if there is none.
  template <class T, class Mutable>
  void put_shared(const std::shared_ptr<const T>& from, Mutable to) {
    if (from) put(to(), *from);
  }

  template <class Mutable>
  void put_position(const Position& from, Mutable to) {
    if (from != Position{}) put(to(), from);
  }

  // Lists of any of the above, up to a bound.
  template <class List, class T>
  void put_list(List* to, const std::vector<T>& from, std::size_t bound) {
    if (!check(from.size() <= bound)) return;
    to->Reserve(static_cast<int>(from.size()));
    for (const T& element : from) put(to->Add(), element);
  }

  template <class Proto>
  void put_group(Proto& to, const Id& group) {
    if (groups_ == nullptr) return to.set_group(bytes_of(group));
    const auto use = groups_->use(group);
    to.set_group_number(use.number);
    if (!use.first) return;
    to.set_group(bytes_of(group));
    defined_ = group;
  }

  // Remembers the first limit that is passed.
  bool check(bool holds, errc otherwise = errc::too_large) noexcept {
    if (!holds && !error_) error_ = otherwise;
    return holds;
  }

 private:
  const PeerTable& peers_;
  SendDictionary* groups_;
  std::optional<Id> defined_;
  std::optional<errc> error_;
};

// From Protobuf to structs. The first error sticks; what is returned after it
// has no meaning.
class Reader {
 public:
  Reader(PeerTable& peers, ReceiveDictionary* groups, Buffer frame_body) noexcept
      : body(std::move(frame_body)), peers_(peers), groups_(groups) {}

  const Buffer body;

  // Empty: nothing is malformed.
  const std::string& problem() const noexcept { return problem_; }

  // A value of a later version was met.
  bool is_foreign() const noexcept { return foreign_; }

  PeerTable& peers() noexcept { return peers_; }

  Id id(const std::string& bytes, std::string_view field);
  std::string text(const std::string& bytes, std::string_view field);
  PeerDescriptor descriptor(const overlay::Peer& from, std::string_view field);

  void get(PeerRef& to, const overlay::Peer& from, std::string_view field);
  void get(TableRow& to, const overlay::TableRow& from, std::string_view field);
  void get(GroupName& to, const overlay::GroupName& from, std::string_view field);
  void get(MessageId& to, const overlay::MessageId& from, std::string_view field);
  void get(GroupState& to, const overlay::GroupState& from, std::string_view field);
  void get(LostSubtree& to, const overlay::LostSubtree& from, std::string_view field);
  Reach reach(const overlay::Reach& from);
  AccessRef access(const overlay::AccessList& from, bool present);
  ProofRef proof(const overlay::Proof& from, bool present);
  Position position(const overlay::Position& from) const noexcept;

  // A peer that the message cannot do without.
  template <class Proto>
  PeerRef needed_peer(const Proto& from, bool present, std::string_view field) {
    PeerRef peer;
    if (present) {
      get(peer, from, field);
    } else {
      fail(fmt::format("{} is missing", field));
    }
    return peer;
  }

  template <class Proto>
  PeerRef optional_peer(const Proto& from, bool present, std::string_view field) {
    PeerRef peer;
    if (present) get(peer, from, field);
    return peer;
  }

  template <class T, class List>
  std::vector<T> list(const List& from, std::size_t bound, std::string_view field) {
    std::vector<T> to;
    const auto size = static_cast<std::size_t>(from.size());
    if (size > bound) {
      fail(fmt::format("{} has {} entries, more than {}", field, size, bound));
      return to;
    }
    to.resize(size);
    for (std::size_t i = 0; i < size && problem_.empty(); ++i) {
      get(to[i], from[static_cast<int>(i)], field);
    }
    return to;
  }

  template <class Proto>
  Id group(const Proto& from) {
    return group(from.group(), from.group_number());
  }

  template <std::unsigned_integral T>
  T number(std::uint32_t value, std::string_view field) {
    if (value > std::numeric_limits<T>::max()) fail(fmt::format("{} is {}", field, value));
    return static_cast<T>(value);
  }

  // Values run from `first` to `last` without holes; larger ones may mean
  // something to a later version.
  template <class E>
  E enumeration(std::uint32_t value, E first, E last) noexcept {
    const auto is_within = [value](E low, E high) {
      return value >= static_cast<std::uint32_t>(low) && value <= static_cast<std::uint32_t>(high);
    };
    if (is_within(first, last)) return static_cast<E>(value);
    foreign_ = true;
    return first;
  }

  void fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

 private:
  Id group(const std::string& bytes, std::uint32_t number);
  Grant grant(const overlay::Grant& from);
  template <std::size_t size>
  std::array<std::uint8_t, size> bytes(const std::string& from, std::string_view field);

  PeerTable& peers_;
  ReceiveDictionary* groups_;
  std::string problem_;
  bool foreign_ = false;
};

void put_descriptor(overlay::Peer* to, const PeerDescriptor& from);

}  // namespace canopy::wire::detail
