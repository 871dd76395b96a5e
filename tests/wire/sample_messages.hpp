// Random messages of every type, and a text that shows every field of one.
//
// Both go over the fields of the structs themselves (Boost.PFR), so a field
// that is added to a message is tested without anything to be added here.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <boost/pfr.hpp>
#include <fmt/format.h>

#include "base/random.hpp"
#include "base/text.hpp"
#include "wire/message.hpp"

namespace canopy::wire::testing {

inline PeerDescriptor sample_peer(unsigned number) {
  const std::string name = fmt::format("node-{}", number);
  PeerDescriptor peer{.id = Id::hash_of(name),
                      .incarnation = 1'700'000'000'000U + number,
                      .name = name,
                      .addresses = {{fmt::format("10.0.{}.{}", number / 250, number % 250),
                                     static_cast<std::uint16_t>(7400 + number)}},
                      .roles = static_cast<std::uint8_t>(number % 4),
                      .zone = number % 2 == 0 ? "" : "zone-1"};
  if (number % 3 == 0) peer.addresses.push_back({"2001:db8::1", 7400});
  return peer;
}

class Sampler {
 public:
  static constexpr unsigned peer_count = 40;

  Sampler(Random& random, PeerTable& peers) : random_(random) {
    for (unsigned i = 0; i < peer_count; ++i) refs_.push_back(peers.intern(sample_peer(i)));
  }

  // A message of the type with this index in Message.
  template <std::size_t index = 0>
  Message message(std::size_t wanted) {
    if constexpr (index < std::variant_size_v<Message::variant>) {
      if (wanted != index) return message<index + 1>(wanted);
      std::variant_alternative_t<index, Message::variant> made{};
      fill(made);
      return made;
    } else {
      return {};
    }
  }

  Message any_message() { return message(random_.below(std::variant_size_v<Message::variant>)); }

  template <class T>
  T sample() {
    T made{};
    fill(made);
    return made;
  }

 private:
  void fill(bool& to) { to = random_.chance(0.5); }

  // Of any magnitude.
  template <std::unsigned_integral T>
  void fill(T& to) {
    to = static_cast<T>(random_.next() >> random_.below(64));
  }

  void fill(Id& to) {
    Id::Bytes bytes{};
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random_.next());
    to = Id::from_bytes(bytes);
  }

  void fill(PeerRef& to) { to = refs_[random_.below(refs_.size())]; }

  void fill(std::string& to) {
    to.resize(random_.below(20));
    for (char& c : to) c = static_cast<char>('!' + random_.below(90));
  }

  void fill(Buffer& to) {
    std::string bytes(random_.below(250), '\0');
    for (char& c : bytes) c = static_cast<char>(random_.next());
    to = Buffer::copy_of(bytes);
  }

  void fill(StatePart& to) { fill_enum(to, StatePart::leaf_set, StatePart::entry); }
  void fill(GroupMode& to) { fill_enum(to, GroupMode::best_effort, GroupMode::durable); }
  void fill(AckMode& to) { fill_enum(to, AckMode::none, AckMode::members); }
  void fill(JoinRefusal& to) { fill_enum(to, JoinRefusal::loop, JoinRefusal::no_such_group); }
  void fill(LeaveReason& to) { fill_enum(to, LeaveReason::gone, LeaveReason::orphaned); }
  void fill(TrackState& to) { fill_enum(to, TrackState::under_way, TrackState::stranger); }
  void fill(ReplyKind& to) { fill_enum(to, ReplyKind::given, ReplyKind::declined); }
  void fill(AskerState& to) { fill_enum(to, AskerState::waits, AskerState::over); }

  void fill(Claim& to) { fill_enum(to, Claim::none, Claim::member); }
  void fill(ChangeKind& to) { fill_enum(to, ChangeKind::look, ChangeKind::offer); }

  template <std::size_t size>
  void fill(std::array<std::uint8_t, size>& to) {
    for (auto& byte : to) byte = static_cast<std::uint8_t>(random_.next());
  }

  // Of access lists and proofs.
  template <class T>
  void fill_shared(std::shared_ptr<const T>& to) {
    if (random_.chance(0.3)) return;
    T made{};
    fill(made);
    to = std::make_shared<const T>(std::move(made));
  }
  void fill(AccessRef& to) { fill_shared(to); }
  void fill(ProofRef& to) { fill_shared(to); }

  template <class E>
  void fill_enum(E& to, E first, E last) {
    const auto low = static_cast<unsigned>(first);
    to = static_cast<E>(low + random_.below(static_cast<unsigned>(last) - low + 1));
  }

  template <class T>
  void fill(std::vector<T>& to) {
    to.resize(random_.below(8));
    for (T& element : to) fill(element);
  }

  template <class T>
  void fill(std::optional<T>& to) {
    if (random_.chance(0.7)) fill(to.emplace());
  }

  void fill(TableRow& to) {
    to.row = static_cast<std::uint8_t>(random_.below(Id::bits));
    fill(to.peers);
  }

  void fill(OpaqueBody& to) {
    to.kind = static_cast<std::uint8_t>(0x70 + random_.below(16));
    fill(to.header);
    fill(to.body);
  }

  void fill(std::shared_ptr<const RoutedBody>& to) {
    RoutedBody body;
    fill_alternative(body, random_.below(std::variant_size_v<RoutedBody::variant>));
    to = std::make_shared<const RoutedBody>(std::move(body));
  }
  // The codec's own.
  void fill(std::shared_ptr<const ReceivedBody>&) {}
  void fill(std::shared_ptr<const OpaqueBody>&) {}

  // Not within another one.
  void fill(std::shared_ptr<const Message>& to) {
    Message inner = any_message();
    while (std::holds_alternative<Relay>(inner)) inner = any_message();
    to = std::make_shared<const Message>(std::move(inner));
  }

  template <std::size_t index = 0>
  void fill_alternative(RoutedBody& to, std::size_t wanted) {
    if constexpr (index < std::variant_size_v<RoutedBody::variant>) {
      if (wanted != index) return fill_alternative<index + 1>(to, wanted);
      fill(to.emplace<index>());
    }
  }

  template <class T>
  requires std::is_aggregate_v<T>
  void fill(T& to) {
    boost::pfr::for_each_field(to, [this](auto& field) { fill(field); });
  }

  Random& random_;
  std::vector<PeerRef> refs_;
};

// Every field, with peers as their descriptors, so that messages over different
// peer tables can be compared.
class Describer {
 public:
  explicit Describer(const PeerTable& peers) : peers_(peers) {}

  std::string operator()(const Message& message) const {
    return std::visit([this](const auto& m) { return describe(m); }, message);
  }

 private:
  std::string describe(bool value) const { return value ? "true" : "false"; }
  template <std::unsigned_integral T>
  std::string describe(T value) const {
    return std::to_string(value);
  }
  template <class E>
  requires std::is_enum_v<E> std::string describe(E value)
  const { return std::to_string(static_cast<unsigned>(value)); }
  std::string describe(const Id& id) const { return id.to_hex(); }
  std::string describe(const std::string& text) const { return '"' + text + '"'; }
  std::string describe(const Buffer& bytes) const { return 'x' + to_hex(bytes.view()); }
  std::string describe(PeerRef ref) const { return ref ? describe(peers_[ref]) : "nobody"; }
  template <class T>
  std::string describe(const std::vector<T>& list) const {
    std::string text = "[";
    for (const T& element : list) text += describe(element) + ", ";
    return text + "]";
  }
  template <class T>
  std::string describe(const std::optional<T>& value) const {
    return value ? describe(*value) : "none";
  }
  std::string describe(const std::shared_ptr<const RoutedBody>& body) const {
    return std::to_string(body->index()) +
           std::visit([this](const auto& b) { return describe(b); }, *body);
  }
  std::string describe(const std::shared_ptr<const ReceivedBody>&) const { return ""; }
  std::string describe(const std::shared_ptr<const OpaqueBody>&) const { return ""; }
  std::string describe(const std::shared_ptr<const Message>& message) const {
    return message ? (*this)(*message) : "none";
  }
  template <std::size_t size>
  std::string describe(const std::array<std::uint8_t, size>& bytes) const {
    return to_hex({reinterpret_cast<const char*>(bytes.data()), size});
  }
  std::string describe(const AccessRef& list) const { return list ? describe(*list) : "none"; }
  std::string describe(const ProofRef& proof) const { return proof ? describe(*proof) : "none"; }
  template <class T>
  requires std::is_aggregate_v<T> std::string describe(const T& from)
  const {
    std::string text = "{";
    boost::pfr::for_each_field(from, [&](const auto& field) { text += describe(field) + ", "; });
    return text + "}";
  }

  const PeerTable& peers_;
};

inline std::string describe(const Message& message, const PeerTable& peers) {
  return Describer(peers)(message);
}

}  // namespace canopy::wire::testing
