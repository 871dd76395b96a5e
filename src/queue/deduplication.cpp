#include "queue/deduplication.hpp"

#include <algorithm>
#include <cstring>

#include "queue/bytes.hpp"
#include "queue/keys.hpp"

namespace canopy::queue {

namespace {
// Of the window: an id is in one of the last three buckets.
constexpr Millis buckets = 2;
}  // namespace

std::uint64_t Deduplication::bucket(Millis time) const {
  return static_cast<std::uint64_t>(std::max<Millis>(time, 0) /
                                    std::max<Millis>(window_ / buckets, 1));
}

std::optional<Original> Deduplication::find(const Transaction& tx, std::string_view id,
                                            Millis time) const {
  const std::uint64_t newest = bucket(time);
  const std::uint64_t oldest = bucket(time - window_);
  for (std::uint64_t at = newest + 1; at-- > oldest;) {
    const auto bytes = tx.get(keys::of_deduplication(queue_, at, id));
    if (!bytes) continue;
    ByteReader in(*bytes);
    const Millis then = in.zigzag();
    Original original;
    original.sequence = in.varint();
    const std::string_view uuid = in.raw(original.id.bytes.size());
    if (!in.finished()) damaged("deduplication id");
    std::memcpy(original.id.bytes.data(), uuid.data(), uuid.size());
    if (then + window_ > time) return original;
  }
  return std::nullopt;
}

void Deduplication::remember(Transaction& tx, std::string_view id, const Original& message,
                             Millis time) const {
  ByteWriter out;
  out.zigzag(time);
  out.varint(message.sequence);
  out.raw({reinterpret_cast<const char*>(message.id.bytes.data()), message.id.bytes.size()});
  tx.put(keys::of_deduplication(queue_, bucket(time), id), out.take());
}

void Deduplication::forget_before(Transaction& tx, Millis time) const {
  const std::uint64_t first_kept = bucket(time);
  if (first_kept == 0) return;
  tx.erase_range(keys::of_deduplication(queue_, 0, {}),
                 keys::of_deduplication(queue_, first_kept, {}));
}

}  // namespace canopy::queue
