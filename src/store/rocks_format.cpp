#include "store/rocks_format.hpp"

#include <algorithm>
#include <cerrno>

namespace canopy::store {

std::string encode_index(std::uint64_t index) {
  std::string bytes(sizeof index, '\0');
  for (std::size_t i = bytes.size(); i-- > 0; index >>= 8)
    bytes[i] = static_cast<char>(index & 0xff);
  return bytes;
}

std::optional<std::uint64_t> decode_index(std::string_view bytes) {
  if (bytes.size() != sizeof(std::uint64_t)) return std::nullopt;
  std::uint64_t index = 0;
  for (char byte : bytes) index = index << 8 | static_cast<unsigned char>(byte);
  return index;
}

std::string encode_owner(const Owner& owner) {
  std::string bytes(owner.cluster.bytes.begin(), owner.cluster.bytes.end());
  bytes.append(owner.node.bytes.begin(), owner.node.bytes.end());
  return bytes;
}

std::optional<Owner> decode_owner(std::string_view bytes) {
  Owner owner;
  if (bytes.size() != owner.cluster.bytes.size() + owner.node.bytes.size()) return std::nullopt;
  std::copy_n(bytes.begin(), owner.cluster.bytes.size(), owner.cluster.bytes.begin());
  std::copy_n(bytes.rbegin(), owner.node.bytes.size(), owner.node.bytes.rbegin());
  return owner;
}

boost::system::error_code error_of(const rocksdb::Status& status) {
  if (status.ok()) return {};
  int number = EIO;
  if (status.IsNoSpace() || status.subcode() == rocksdb::Status::kNoSpace) number = ENOSPC;
  if (status.IsCorruption()) number = EUCLEAN;
  return {number, boost::system::system_category()};
}

}  // namespace canopy::store
