// The headers and payload that a publisher sends to every member.
#include <string_view>

#include "base/assert.hpp"
#include "wire/content.hpp"

using namespace canopy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto content = wire::decode_content(Buffer::copy_of(bytes));
  if (!content) return 0;
  const auto again = wire::encode_content(content->headers, content->payload.view());
  CANOPY_ASSERT(again);
  const auto same = wire::decode_content(*again);
  CANOPY_ASSERT(same && same->payload.view() == content->payload.view());
  return 0;
}
