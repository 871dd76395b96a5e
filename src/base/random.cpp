#include "base/random.hpp"

#include <bit>
#include <cmath>

#include "base/assert.hpp"

namespace canopy {

namespace {

std::uint64_t splitmix64(std::uint64_t& state) noexcept {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed) noexcept {
  for (auto& word : state_) word = splitmix64(seed);
}

std::uint64_t Random::next() noexcept {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) noexcept {
  CANOPY_ASSERT(bound > 0);
  const std::uint64_t rejected = (0 - bound) % bound;  // 2^64 mod bound
  std::uint64_t drawn = next();
  while (drawn < rejected) drawn = next();
  return drawn % bound;
}

double Random::unit() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Random::exponential(double mean) noexcept { return -mean * std::log1p(-unit()); }

Duration Random::jittered(Duration span, double share) noexcept {
  const double factor = 1.0 + share * (2.0 * unit() - 1.0);
  return Duration(static_cast<std::int64_t>(static_cast<double>(span.count()) * factor));
}

}  // namespace canopy
