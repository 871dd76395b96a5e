#include "wire/content.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include <canopy/error.hpp>

#include "wire/big_endian.hpp"

namespace canopy::wire {

namespace {

constexpr char format = 1;
constexpr std::size_t prefix_size = 2;    // format, pairs
constexpr std::size_t pair_overhead = 3;  // u8 key size, u16 value size
constexpr std::size_t max_key = 255;
constexpr std::size_t max_value = 0xffff;

// Takes parts off the front of the bytes; nothing once they do not suffice.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) noexcept : rest_(bytes) {}

  std::optional<std::string_view> take(std::size_t size) noexcept {
    if (size > rest_.size()) return std::nullopt;
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }

  // A text behind its size.
  template <class Size>
  std::optional<std::string_view> take_sized() noexcept {
    const auto size = take(sizeof(Size));
    return size ? take(load_big_endian<Size>(size->data())) : std::nullopt;
  }

  std::size_t remaining() const noexcept { return rest_.size(); }

 private:
  std::string_view rest_;
};

char* put(char* to, std::string_view bytes) noexcept {
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

}  // namespace

boost::system::result<Buffer> encode_content(const Headers& headers, std::string_view payload,
                                             std::size_t max_payload) {
  if (headers.size() > max_content_headers || payload.size() > max_payload) return errc::too_large;
  std::size_t header_bytes = 0;
  for (const auto& [key, value] : headers) {
    if (key.empty() || key.size() > max_key) return errc::bad_name;
    if (value.size() > max_value) return errc::too_large;
    header_bytes += key.size() + value.size();
  }
  if (header_bytes > max_content_header_bytes) return errc::too_large;

  const std::size_t size =
      prefix_size + headers.size() * pair_overhead + header_bytes + payload.size();
  const std::shared_ptr<char[]> slab(new char[size]);
  char* to = slab.get();
  *to++ = format;
  *to++ = static_cast<char>(headers.size());
  for (const auto& [key, value] : headers) {
    *to++ = static_cast<char>(key.size());
    to = put(to, key);
    store_big_endian(to, static_cast<std::uint16_t>(value.size()));
    to = put(to + sizeof(std::uint16_t), value);
  }
  put(to, payload);
  return Buffer(slab, 0, size);
}

boost::system::result<Content> decode_content(const Buffer& bytes, std::size_t max_payload) {
  Cursor cursor(bytes.view());
  const auto prefix = cursor.take(prefix_size);
  if (!prefix) return errc::protocol;
  if ((*prefix)[0] != format) return errc::version;
  const auto pairs = static_cast<std::uint8_t>((*prefix)[1]);
  if (pairs > max_content_headers) return errc::too_large;

  Content content;
  content.headers.reserve(pairs);
  std::size_t header_bytes = 0;
  for (unsigned i = 0; i < pairs; ++i) {
    const auto key = cursor.take_sized<std::uint8_t>();
    const auto value = key ? cursor.take_sized<std::uint16_t>() : std::nullopt;
    if (!value || key->empty()) return errc::protocol;
    header_bytes += key->size() + value->size();
    if (header_bytes > max_content_header_bytes) return errc::too_large;
    content.headers.emplace_back(*key, *value);
  }
  if (cursor.remaining() > max_payload) return errc::too_large;
  content.payload = bytes.slice(bytes.size() - cursor.remaining(), cursor.remaining());
  return content;
}

}  // namespace canopy::wire
