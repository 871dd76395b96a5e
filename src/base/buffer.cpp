#include "base/buffer.hpp"

#include <cstring>

#include "base/assert.hpp"

namespace canopy {

Buffer Buffer::copy_of(std::string_view bytes) {
  if (bytes.empty()) return {};
  const std::shared_ptr<char[]> slab(new char[bytes.size()]);
  std::memcpy(slab.get(), bytes.data(), bytes.size());
  return {slab, 0, bytes.size()};
}

Buffer Buffer::slice(std::size_t offset, std::size_t size) const {
  CANOPY_ASSERT(offset <= size_ && size <= size_ - offset);
  Buffer part = *this;
  part.data_ += offset;
  part.size_ = size;
  return part;
}

}  // namespace canopy
