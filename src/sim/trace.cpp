#include "sim/trace.hpp"

#include <algorithm>
#include <charconv>
#include <istream>
#include <ostream>
#include <sstream>

namespace canopy::sim {

namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> id_head(std::string_view hex) {
  if (hex.size() > 16) return std::nullopt;
  const auto id = Id::from_hex(hex);
  return id ? std::optional(id->high64()) : std::nullopt;
}

}  // namespace

void TraceHash::add(std::uint64_t time_us, std::uint64_t from, std::uint64_t to, std::uint64_t type,
                    std::uint64_t bytes) noexcept {
  for (const std::uint64_t value : {time_us, from, to, type, bytes}) hash_ = mixed(hash_, value);
}

// Whole hexadecimal digits; of an id space of, say, 30 bits the last one is partly zero.
Trace::Trace(unsigned id_bits) : hex_bits_(std::min(64U, (id_bits + 3) / 4 * 4)) {}

void Trace::add(MonoTime at, const Id& from, const Id& to, const EventType& type,
                std::size_t bytes) {
  hash_.add(static_cast<std::uint64_t>(at.time_since_epoch().count()), from.high64(), to.high64(),
            type.hash(), bytes);
  if (stream_ != nullptr) write(at, from, to, type, bytes);
}

void Trace::write(MonoTime at, const Id& from, const Id& to, const EventType& type,
                  std::size_t bytes) {
  std::string line = std::to_string(at.time_since_epoch().count());
  line += ' ';
  line += from.to_hex(hex_bits_);
  line += ' ';
  line += to.to_hex(hex_bits_);
  line += ' ';
  line += type.text();
  line += ' ';
  line += std::to_string(bytes);
  line += '\n';
  *stream_ << line;
}

std::optional<std::uint64_t> Trace::hash_of_text(std::istream& text, std::string& error) {
  TraceHash hash;
  std::string line;
  for (std::size_t at = 1; std::getline(text, line); ++at) {
    std::istringstream fields(line);
    std::string time_us, from, to, type, bytes, more;
    fields >> time_us >> from >> to >> type >> bytes;
    const auto time = number(time_us);
    const auto from_head = id_head(from);
    const auto to_head = id_head(to);
    const auto size = number(bytes);
    if (!time || !from_head || !to_head || !size || fields >> more) {
      error = "line " + std::to_string(at) + " is not 'time_us from to type bytes'";
      return std::nullopt;
    }
    hash.add(*time, *from_head, *to_head, fnv1a(type), *size);
  }
  return hash.value();
}

}  // namespace canopy::sim
