// What RocksStore and the check of its files have in common: the store's own keys
// and the errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/system/error_code.hpp>
#include <rocksdb/status.h>

#include "store/owner.hpp"

namespace canopy::store {

using namespace std::string_view_literals;

inline constexpr std::string_view applied_key = "\0applied"sv;  // u64, big-endian
inline constexpr std::string_view owner_key = "\0owner"sv;      // cluster and node, 32 bytes
inline constexpr std::string_view first_user_key = "\1"sv;

std::string encode_index(std::uint64_t index);
std::optional<std::uint64_t> decode_index(std::string_view bytes);
std::string encode_owner(const Owner& owner);
std::optional<Owner> decode_owner(std::string_view bytes);

// ENOSPC, EUCLEAN for corrupt data, else EIO.
boost::system::error_code error_of(const rocksdb::Status& status);

}  // namespace canopy::store
