// What may arrive at the HTTP port, in pieces of any size.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "gateway/http_parser.hpp"

using namespace canopy::gateway;

namespace {

struct Read {
  HttpParser::Status status;
  std::string body;
  std::size_t size = 0;
  std::size_t fields = 0;
};

Read read(std::string_view bytes, std::size_t step) {
  HttpParser parser({.head_bytes_max = 1'024, .fields_max = 20, .body_bytes_max = 256});
  Read read{HttpParser::Status::more, {}, 0, 0};
  for (std::size_t size = 0; read.status == HttpParser::Status::more && size < bytes.size();) {
    size = std::min(bytes.size(), size + step);
    // Exactly as long as it is, and each time in another place.
    const std::string arrived(bytes.substr(0, size));
    read.status = parser.parse(arrived);
    if (read.status != HttpParser::Status::complete) continue;
    read.body = parser.request().body;
    read.size = parser.size();
    read.fields = parser.request().fields.size();
    CANOPY_ASSERT(read.size <= size && parser.request().target.starts_with('/'));
  }
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4'096) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const Read whole = read(bytes, bytes.size());
  const Read pieces = read(bytes, 1 + data[0]);
  // Where requests end must not depend on how they arrive.
  if (whole.status == HttpParser::Status::complete) {
    CANOPY_ASSERT(pieces.status == whole.status && pieces.size == whole.size);
    CANOPY_ASSERT(pieces.body == whole.body && pieces.fields == whole.fields);
  }
  return 0;
}
