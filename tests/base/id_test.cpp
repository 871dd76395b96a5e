#include "base/id.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace canopy {
namespace {

// The oracle: an id as 160 single bits, most significant first, worked on the
// way one does it on paper.
using Bits = std::array<bool, Id::bits>;

Bits bits_of(const Id& id) {
  const Id::Bytes bytes = id.to_bytes();
  Bits bits{};
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = (bytes[i / 8] >> (7 - i % 8) & 1) != 0;
  return bits;
}

Bits sum(const Bits& a, const Bits& b, bool carry = false) {
  Bits out{};
  for (std::size_t i = Id::bits; i-- > 0;) {
    const int ones = int{a[i]} + int{b[i]} + int{carry};
    out[i] = ones % 2 == 1;
    carry = ones >= 2;
  }
  return out;
}

Bits difference(const Bits& a, Bits b) {
  for (bool& bit : b) bit = !bit;
  return sum(a, b, true);
}

Bits distance(const Bits& a, const Bits& b) { return std::min(difference(a, b), difference(b, a)); }

unsigned digit_of(const Bits& bits, unsigned index, unsigned b) {
  unsigned value = 0;
  for (unsigned i = index * b; i < (index + 1) * b; ++i) value = 2 * value + unsigned{bits[i]};
  return value;
}

Id random_id(Random& random) {
  Id::Bytes bytes{};
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
  return Id::from_bytes(bytes);
}

// Ids that are random, near each other, extreme, or of a short id space.
std::vector<Id> sample_ids(Random& random) {
  std::vector<Id> ids;
  ids.push_back(Id());
  ids.push_back(Id() - *Id::from_hex("0000000000000000000000000000000000000001"));
  ids.push_back(*Id::from_hex("8"));
  for (unsigned i = 0; i < 12; ++i) {
    const Id id = random_id(random);
    ids.push_back(id);
    ids.push_back(id.truncated(16));
    ids.push_back(id.truncated(32));
    const auto position = static_cast<unsigned>(random.below(Id::bits));
    ids.push_back(id.with_digit(position, 1, 1 - id.digit(position, 1)));
    ids.push_back(Id() - id);
    ids.push_back(id + *Id::from_hex("8"));
  }
  return ids;
}

Id hex(std::string_view text) {
  const auto id = Id::from_hex(text);
  EXPECT_TRUE(id) << text;
  return id.value_or(Id());
}

TEST(Id, SurvivesBytesAndHexadecimal) {
  Random random(1);
  for (const Id& id : sample_ids(random)) {
    EXPECT_EQ(Id::from_bytes(id.to_bytes()), id);
    EXPECT_EQ(Id::from_hex(id.to_hex()), id);
  }
}

TEST(Id, ShortHexadecimalLeavesTheLowBitsZero) {
  EXPECT_EQ(hex("150d").to_hex(), "150d" + std::string(36, '0'));
  EXPECT_EQ(hex("150D"), hex("150d"));
  EXPECT_EQ(hex("150d").to_hex(16), "150d");
  EXPECT_EQ(hex("f"), hex("f000"));
}

TEST(Id, RefusesWhatIsNotHexadecimal) {
  EXPECT_FALSE(Id::from_hex(""));
  EXPECT_FALSE(Id::from_hex("15g0"));
  EXPECT_FALSE(Id::from_hex("0x15"));
  EXPECT_FALSE(Id::from_hex(" 15"));
  EXPECT_FALSE(Id::from_hex(std::string(41, '0')));
}

TEST(Id, HashesNamesToTheirPlaceOnTheRing) {
  EXPECT_EQ(Id::hash_of("abc").to_hex(), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(Id::hash_of("abc", 32).to_hex(), "a9993e36" + std::string(32, '0'));
  EXPECT_EQ(Id::hash_of("pricesnode-17", 16).to_hex(16), "150d");
}

TEST(Id, TruncationKeepsTheFirstBitsOnly) {
  Random random(2);
  for (const Id& id : sample_ids(random)) {
    for (unsigned length = 0; length <= Id::bits; ++length) {
      const Bits cut = bits_of(id.truncated(length));
      const Bits whole = bits_of(id);
      for (unsigned i = 0; i < Id::bits; ++i) {
        ASSERT_EQ(cut[i], i < length && whole[i]) << id.to_hex() << " cut to " << length;
      }
    }
  }
}

TEST(Id, DigitsOfEveryWidthThatDividesTheLength) {
  Random random(3);
  for (const Id& id : sample_ids(random)) {
    const Bits bits = bits_of(id);
    for (const unsigned b : {1U, 2U, 4U, 5U, 8U}) {
      for (unsigned i = 0; i < Id::bits / b; ++i) {
        ASSERT_EQ(id.digit(i, b), digit_of(bits, i, b)) << id.to_hex() << ' ' << i << ' ' << b;
      }
    }
  }
}

TEST(Id, DigitsOfWidthsThatDivideAShortLengthOnly) {
  Random random(4);
  const Id id = random_id(random).truncated(84);
  for (const unsigned b : {3U, 6U, 7U}) {
    for (unsigned i = 0; i < 84 / b; ++i) EXPECT_EQ(id.digit(i, b), digit_of(bits_of(id), i, b));
  }
}

TEST(Id, ReplacingADigitChangesThatDigitAlone) {
  Random random(5);
  for (unsigned round = 0; round < 200; ++round) {
    const Id id = random_id(random);
    const auto b = static_cast<unsigned>(1 + random.below(8));
    const unsigned count = Id::bits / b;
    const auto index = static_cast<unsigned>(random.below(count));
    const auto value = static_cast<unsigned>(random.below(1U << b));
    const Id changed = id.with_digit(index, b, value);
    for (unsigned i = 0; i < count; ++i) {
      ASSERT_EQ(changed.digit(i, b), i == index ? value : id.digit(i, b));
    }
  }
}

TEST(Id, ArithmeticAndOrderAgreeWithTheOracle) {
  Random random(6);
  const auto ids = sample_ids(random);
  for (const Id& a : ids) {
    for (const Id& b : ids) {
      const Bits left = bits_of(a);
      const Bits right = bits_of(b);
      ASSERT_EQ(bits_of(a + b), sum(left, right)) << a.to_hex() << " + " << b.to_hex();
      ASSERT_EQ(bits_of(a - b), difference(left, right)) << a.to_hex() << " - " << b.to_hex();
      ASSERT_EQ(bits_of(ring_distance(a, b)), distance(left, right));
      ASSERT_EQ(a < b, left < right);
      ASSERT_EQ(a == b, left == right);
      ASSERT_EQ(a > b, left > right);
    }
  }
}

TEST(Id, SharedPrefixesAgreeWithTheOracle) {
  Random random(7);
  const auto ids = sample_ids(random);
  for (const Id& a : ids) {
    for (const Id& b : ids) {
      for (unsigned width = 1; width <= 8; ++width) {
        const unsigned count = Id::bits / width;
        unsigned same = 0;
        while (same < count && a.digit(same, width) == b.digit(same, width)) ++same;
        ASSERT_EQ(shared_prefix_length(a, b, width), same) << a.to_hex() << ' ' << b.to_hex();
      }
    }
  }
}

TEST(Id, CloserToAgreesWithTheOracle) {
  Random random(8);
  const auto ids = sample_ids(random);
  for (const Id& key : ids) {
    for (const Id& a : ids) {
      const Id& b = ids[random.below(ids.size())];
      const auto near_a = distance(bits_of(a), bits_of(key));
      const auto near_b = distance(bits_of(b), bits_of(key));
      const bool closer = near_a != near_b ? near_a < near_b : bits_of(a) < bits_of(b);
      ASSERT_EQ(closer_to(key, a, b), closer) << key.to_hex() << a.to_hex() << b.to_hex();
    }
  }
}

TEST(Id, ATieGoesToTheSmallerId) {
  const Id key = hex("8000");
  EXPECT_TRUE(closer_to(key, hex("7ff0"), hex("8010")));
  EXPECT_FALSE(closer_to(key, hex("8010"), hex("7ff0")));
  // Across zero, the one below it is the larger id.
  EXPECT_TRUE(closer_to(hex("0000"), hex("0001"), hex("ffff")));
  EXPECT_FALSE(closer_to(hex("0000"), hex("ffff"), hex("0001")));
  EXPECT_FALSE(closer_to(key, key, key));
}

TEST(Id, DistanceIsTakenAcrossZeroAndIsAtMostHalfTheRing) {
  EXPECT_EQ(ring_distance(hex("ffff"), hex("0001")).to_hex(16), "0002");
  EXPECT_EQ(ring_distance(hex("0001"), hex("ffff")).to_hex(16), "0002");
  EXPECT_EQ(ring_distance(hex("0000"), hex("8000")).to_hex(16), "8000");
}

TEST(Id, AShortIdSpaceIsAClosedPartOfTheRing) {
  Random random(9);
  for (unsigned round = 0; round < 1000; ++round) {
    const auto x = static_cast<std::uint16_t>(random.next());
    const auto y = static_cast<std::uint16_t>(random.next());
    const auto make = [](std::uint16_t value) {
      return Id::from_bytes(
          Id::Bytes{static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)});
    };
    ASSERT_EQ(make(x) - make(y), make(static_cast<std::uint16_t>(x - y)));
    ASSERT_EQ(make(x) + make(y), make(static_cast<std::uint16_t>(x + y)));
    ASSERT_EQ(make(x) < make(y), x < y);
  }
}

}  // namespace
}  // namespace canopy
