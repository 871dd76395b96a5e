#include "queue/receipt_handle.hpp"

#include <bit>
#include <cstddef>

#include "queue/base64.hpp"
#include "queue/bytes.hpp"

namespace canopy::queue {

namespace {

constexpr std::uint8_t receipt_handle_version = 1;
constexpr std::size_t mac_size = 8;

std::uint64_t little_endian(const char* from, std::size_t size) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(from[i]);
  return value;
}

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void round() noexcept {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void absorb(std::uint64_t word) noexcept {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

}  // namespace

std::uint64_t sip_hash(const SecretKey& key, std::string_view bytes) noexcept {
  const std::uint64_t k0 = little_endian(key.data(), 8);
  const std::uint64_t k1 = little_endian(key.data() + 8, 8);
  SipState state{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                 k1 ^ 0x7465646279746573};
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) state.absorb(little_endian(bytes.data() + at, 8));
  state.absorb(little_endian(bytes.data() + at, bytes.size() - at) | std::uint64_t{bytes.size()}
                                                                         << 56);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

std::string seal(const ReceiptHandle& handle, std::uint64_t key_id, const SecretKey& key) {
  ByteWriter out;
  out.reserve(64);
  out.u8(receipt_handle_version);
  out.varint(key_id);
  out.varint(handle.queue);
  out.varint(handle.shard);
  out.u64(handle.at.lane);
  out.varint(static_cast<std::uint64_t>(handle.at.time));
  out.varint(handle.at.sequence);
  out.varint(handle.term);
  out.varint(handle.receive);
  out.u64(sip_hash(key, out.view()));
  return to_base64url(out.view());
}

std::optional<std::uint64_t> key_of_handle(std::string_view text) {
  const auto bytes = from_base64url(text);
  if (!bytes || bytes->size() < mac_size) return std::nullopt;
  ByteReader in(*bytes);
  if (in.u8() != receipt_handle_version) return std::nullopt;
  const std::uint64_t id = in.varint();
  return in.ok() ? std::optional(id) : std::nullopt;
}

std::optional<ReceiptHandle> open_handle(std::string_view text, const SecretKey& key) {
  const auto bytes = from_base64url(text);
  if (!bytes || bytes->size() < mac_size) return std::nullopt;
  const std::string_view sealed(bytes->data(), bytes->size() - mac_size);
  if (ByteReader(std::string_view(*bytes).substr(sealed.size())).u64() != sip_hash(key, sealed)) {
    return std::nullopt;
  }
  ByteReader in(sealed);
  ReceiptHandle handle;
  const std::uint8_t written_by = in.u8();
  in.varint();  // the key's id
  handle.queue = in.varint();
  handle.shard = in.varint();
  handle.at.lane = in.u64();
  handle.at.time = static_cast<Millis>(in.varint());
  handle.at.sequence = in.varint();
  handle.term = in.varint();
  handle.receive = in.varint();
  if (written_by != receipt_handle_version || !in.finished()) return std::nullopt;
  return handle;
}

}  // namespace canopy::queue
