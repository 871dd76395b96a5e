#include "scribe/publish_rate.hpp"

#include <algorithm>
#include <cmath>

namespace canopy::scribe {

namespace {

// A bucket may go below zero by one large message: what is above its size counts too.
double missing(double rate, double held, double wanted) {
  return rate == 0 ? 0 : std::max(0.0, std::min(wanted, rate) - held) / rate;
}

}  // namespace

PublishRates::Bucket& PublishRates::bucket_of(const Id& publisher, MonoTime now) {
  const auto found = buckets_.find(publisher);
  if (found != buckets_.end()) {
    Bucket& bucket = found->second;
    const double seconds = std::chrono::duration<double>(now - bucket.filled).count();
    bucket.messages = std::min(messages_, bucket.messages + seconds * messages_);
    bucket.bytes = std::min(bytes_, bucket.bytes + seconds * bytes_);
    bucket.filled = now;
    oldest_first_.splice(oldest_first_.end(), oldest_first_, bucket.age);
    return bucket;
  }
  if (buckets_.size() >= publishers_max) {
    buckets_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }
  oldest_first_.push_back(publisher);
  return buckets_[publisher] = {messages_, bytes_, now, std::prev(oldest_first_.end())};
}

Duration PublishRates::take(const Id& publisher, std::size_t bytes, MonoTime now) {
  if (messages_ == 0 && bytes_ == 0) return Duration::zero();
  Bucket& bucket = bucket_of(publisher, now);
  const auto size = static_cast<double>(bytes);
  const double wait =
      std::max(missing(messages_, bucket.messages, 1), missing(bytes_, bucket.bytes, size));
  if (wait > 0) return std::chrono::ceil<Duration>(std::chrono::duration<double>(wait));
  bucket.messages -= 1;
  bucket.bytes -= size;
  return Duration::zero();
}

}  // namespace canopy::scribe
