// What happened in a run, as a hash that is always kept and a text on demand.
//
// One line per event: `time_us from to type bytes`, with from and to the first
// id_bits bits of the nodes' ids in hexadecimal, but at most 64 (16 digits). A
// message is an event when it is sent (type GroupJoin, LeafProbe, ..), and one
// more if the network loses it (type "lost:" + type); what befalls a node is
// one from the node to itself of 0 bytes (type crash, restart, hang, resume).
//
// The hash: h = 0; each line's five values are mixed in, in order, by
// h = (h ^ value) * 0x9e3779b97f4a7c15, h ^= h >> 32 (both modulo 2^64), where
// an id counts as its first 64 bits and a type as the 64-bit FNV-1a hash of its
// text. So the text hashes to the same value as the run: hash_of_text().
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.hpp"
#include "base/time.hpp"

namespace canopy::sim {

constexpr std::uint64_t fnv1a(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

// A type's text with its hash, so that it is computed once.
class EventType {
 public:
  constexpr EventType() noexcept = default;
  constexpr explicit EventType(std::string_view text) noexcept : text_(text), hash_(fnv1a(text)) {}
  constexpr std::string_view text() const noexcept { return text_; }
  constexpr std::uint64_t hash() const noexcept { return hash_; }

 private:
  std::string_view text_;
  std::uint64_t hash_ = fnv1a({});
};

class TraceHash {
 public:
  void add(std::uint64_t time_us, std::uint64_t from, std::uint64_t to, std::uint64_t type,
           std::uint64_t bytes) noexcept;
  std::uint64_t value() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

class Trace {
 public:
  explicit Trace(unsigned id_bits);

  // Writes the text, too, from now on; the stream must outlive the run.
  void write_to(std::ostream& stream) noexcept { stream_ = &stream; }

  void add(MonoTime at, const Id& from, const Id& to, const EventType& type, std::size_t bytes);

  std::uint64_t hash() const noexcept { return hash_.value(); }

  // Of a text of such lines; nothing, with what is wrong, if it is not one.
  static std::optional<std::uint64_t> hash_of_text(std::istream& text, std::string& error);

 private:
  void write(MonoTime at, const Id& from, const Id& to, const EventType& type, std::size_t bytes);

  unsigned hex_bits_;
  TraceHash hash_;
  std::ostream* stream_ = nullptr;
};

}  // namespace canopy::sim
