#include "base/ed25519.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace canopy {
namespace {

template <std::size_t size>
std::array<std::uint8_t, size> bytes_from(const std::string& hex) {
  std::array<std::uint8_t, size> out{};
  for (std::size_t i = 0; i < size; ++i)
    out[i] = static_cast<std::uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  return out;
}

template <class Bytes>
std::string hex_text(const Bytes& from) {
  return to_hex({reinterpret_cast<const char*>(from.data()), from.size()});
}

struct Vector {
  std::string seed;
  std::string key;
  std::string message;
  std::string signature;
};

// RFC 8032, section 7.1, tests 1 to 3.
const Vector vectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b"
     "4"
     "6bd25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "\x72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11"
     "d"
     "8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "\xaf\x82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc"
     "6"
     "594a7c15e9716ed28dc027beceea1ec40a"},
};

TEST(Ed25519, SignsAsTheStandardSays) {
  for (const Vector& vector : vectors) {
    const SigningKey key(bytes_from<32>(vector.seed));
    EXPECT_EQ(hex_text(key.public_key()), vector.key);
    EXPECT_EQ(hex_text(key.sign(vector.message)), vector.signature);
    EXPECT_TRUE(verify(key.public_key(), vector.message, bytes_from<64>(vector.signature)));
  }
}

TEST(Ed25519, RefusesWhatIsNotTheMessageTheKeyOrTheSignature) {
  const SigningKey key(sha256("one"));
  const Signature signature = key.sign("message");
  EXPECT_FALSE(verify(key.public_key(), "massage", signature));
  EXPECT_FALSE(verify(SigningKey(sha256("two")).public_key(), "message", signature));
  Signature damaged = signature;
  damaged[10] ^= 1;
  EXPECT_FALSE(verify(key.public_key(), "message", damaged));
  EXPECT_FALSE(verify(PublicKey{}, "message", Signature{}));
}

TEST(Sha256, HashesAsTheStandardSays) {
  EXPECT_EQ(hex_text(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace canopy
