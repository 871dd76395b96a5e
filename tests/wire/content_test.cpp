#include "wire/content.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "base/random.hpp"
#include "base/text.hpp"

namespace canopy::wire {
namespace {

Buffer encoded(const Headers& headers, std::string_view payload) {
  const auto bytes = encode_content(headers, payload);
  EXPECT_TRUE(bytes) << bytes.error().message();
  return bytes ? *bytes : Buffer();
}

Content decoded(const Buffer& bytes) {
  const auto content = decode_content(bytes);
  EXPECT_TRUE(content) << content.error().message();
  return content ? *content : Content();
}

boost::system::error_code encoding_error(const Headers& headers, std::string_view payload,
                                         std::size_t max_payload = default_max_payload) {
  const auto bytes = encode_content(headers, payload, max_payload);
  return bytes ? boost::system::error_code() : bytes.error();
}

boost::system::error_code decoding_error(std::string_view bytes,
                                         std::size_t max_payload = default_max_payload) {
  const auto content = decode_content(Buffer::copy_of(bytes), max_payload);
  return content ? boost::system::error_code() : content.error();
}

TEST(Content, LiesInTheBytesAsSpecified) {
  const Buffer bytes = encoded({{"k", "value"}, {"key", ""}}, "payload");
  EXPECT_EQ(bytes.view(), std::string_view("\x01\x02"
                                           "\x01k\x00\x05value"
                                           "\x03key\x00\x00"
                                           "payload",
                                           24));
}

TEST(Content, SurvivesTheRoundTrip) {
  const std::vector<Content> all = {
      {},
      {{}, Buffer::copy_of("payload")},
      {{{"a", "1"}, {"a", "2"}, {"B", ""}}, {}},
      {{{std::string(255, 'k'), std::string(65'000, 'v')}}, Buffer::copy_of(std::string(1, '\0'))},
      {Headers(64, {"k", "v"}), Buffer::copy_of(std::string(1 << 20, 'p'))},
  };
  for (const Content& content : all) {
    EXPECT_EQ(decoded(encoded(content.headers, content.payload.view())), content);
  }
}

TEST(Content, APayloadIsSlicedOutWithoutACopy) {
  const Buffer bytes = encoded({{"k", "v"}}, "payload");
  const Content content = decoded(bytes);
  EXPECT_EQ(content.payload.data(), bytes.data() + bytes.size() - 7);
}

TEST(Content, WhatPassesALimitIsNotEncoded) {
  EXPECT_EQ(encoding_error({}, std::string(1001, 'p'), 1000), errc::too_large);
  EXPECT_EQ(encoding_error({}, std::string(1000, 'p'), 1000), boost::system::error_code());
  EXPECT_EQ(encoding_error(Headers(65, {"k", "v"}), ""), errc::too_large);
  EXPECT_EQ(encoding_error({{"k", std::string(65'536, 'v')}}, ""), errc::too_large);
  EXPECT_EQ(encoding_error(Headers(2, {"k", std::string(32'768, 'v')}), ""), errc::too_large);
  EXPECT_EQ(encoding_error({{"", "v"}}, ""), errc::bad_name);
  EXPECT_EQ(encoding_error({{std::string(256, 'k'), "v"}}, ""), errc::bad_name);
}

TEST(Content, WhatIsCutOrPassesALimitIsNotDecoded) {
  const std::string bytes(encoded({{"key", "value"}, {"k", "v"}}, "").view());
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_EQ(decoding_error(bytes.substr(0, cut)), errc::protocol) << cut;
  }
  EXPECT_EQ(decoding_error(std::string("\x02\x00", 2)), errc::version);
  EXPECT_EQ(decoding_error(std::string("\x01\x41", 2)), errc::too_large);
  EXPECT_EQ(decoding_error(std::string("\x01\x01\x00\x00\x00", 5)), errc::protocol);
  EXPECT_EQ(decoding_error(std::string("\x01\x00", 2) + std::string(11, 'p'), 10), errc::too_large);
  std::string large("\x01\x02", 2);
  for (unsigned i = 0; i < 2; ++i) {
    large += std::string("\x01k\x80\x00", 4) + std::string(32'768, 'v');
  }
  EXPECT_EQ(decoding_error(large), errc::too_large);
}

TEST(Content, WhateverIsDecodedIsEncodedToTheSameBytes) {
  Random random(1);
  const std::string good(encoded({{"key", "value"}, {"k", "v"}}, "payload").view());
  unsigned accepted = 0;
  for (unsigned round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (unsigned i = 0; i <= random.below(3); ++i) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    }
    bytes.resize(random.below(bytes.size() + 1));
    const auto content = decode_content(Buffer::copy_of(bytes));
    if (!content) continue;
    ++accepted;
    ASSERT_EQ(encoded(content->headers, content->payload.view()).view(), bytes);
  }
  EXPECT_GT(accepted, 100U);
}

}  // namespace
}  // namespace canopy::wire
