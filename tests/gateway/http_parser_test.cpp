#include "gateway/http_parser.hpp"

#include <gtest/gtest.h>

namespace canopy::gateway {
namespace {

using Status = HttpParser::Status;

unsigned refusal_of(std::string_view text, HttpLimits limits = {}) {
  HttpParser parser(limits);
  return parser.parse(text) == Status::refused ? parser.refusal().status : 0;
}

TEST(HttpParser, ReadsARequestWithItsBody) {
  HttpParser parser({});
  const std::string text =
      "POST /a?b=c HTTP/1.1\r\nHost: h:1\r\nX-Amz-Target:  t \r\nContent-Length: 3\r\n\r\nxyzGET";
  ASSERT_EQ(parser.parse(text), Status::complete);
  EXPECT_EQ(parser.request().method, "POST");
  EXPECT_EQ(parser.request().path(), "/a");
  EXPECT_EQ(parser.request().query(), "b=c");
  EXPECT_EQ(parser.request().field("x-amz-target"), "t");
  EXPECT_EQ(parser.request().body, "xyz");
  EXPECT_EQ(parser.size(), text.size() - 3);
  EXPECT_TRUE(parser.keep_alive());
}

TEST(HttpParser, WaitsForEveryByteAndMayBeMovedInBetween) {
  const std::string text = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab";
  HttpParser parser({});
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::string part = text.substr(0, size);
    ASSERT_EQ(parser.parse(part), Status::more) << size;
  }
  const std::string elsewhere = text;
  ASSERT_EQ(parser.parse(elsewhere), Status::complete);
  EXPECT_EQ(parser.request().field("host"), "h");
  EXPECT_EQ(parser.request().body, "ab");
}

TEST(HttpParser, ReadsChunks) {
  const std::string text =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nHost: trailer\r\n\r\nGET";
  HttpParser whole({});
  ASSERT_EQ(whole.parse(text), Status::complete);
  EXPECT_EQ(whole.request().body, "abc0123456789");
  EXPECT_EQ(whole.size(), text.size() - 3);
  EXPECT_EQ(whole.request().field("host"), "h");
  HttpParser bytewise({});
  for (std::size_t size = 0; size < text.size() - 3; ++size) {
    const std::string part = text.substr(0, size);
    ASSERT_EQ(bytewise.parse(part), Status::more) << size;
  }
  ASSERT_EQ(bytewise.parse(text), Status::complete);
  EXPECT_EQ(bytewise.request().body, "abc0123456789");
}

TEST(HttpParser, ReadsChunksThatComeByteByByte) {
  for (const std::string_view chunks :
       {"0\r\n\r\n", "0\r\nTrailer: t\r\n\r\n", "1;a=b\r\nx\r\n0\r\n\r\n", "00\r\n\r\n"}) {
    const std::string all =
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(chunks);
    HttpParser parser({});
    for (std::size_t size = 1; size < all.size(); ++size)
      ASSERT_EQ(parser.parse(std::string_view(all).substr(0, size)), Status::more) << chunks;
    EXPECT_EQ(parser.parse(all), Status::complete) << chunks;
  }
}

TEST(HttpParser, BoundsWhatIsBetweenChunksHoweverItArrives) {
  const HttpLimits limits{.head_bytes_max = 100, .fields_max = 20, .body_bytes_max = 1'000};
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string much(120, 'x');
  for (const std::string& chunks :
       {"1;" + much + "\r\nx\r\n0\r\n\r\n", "0\r\nT: " + much + "\r\n\r\n",
        "1\r\nx\r\n0;" + much + "\r\n\r\n"}) {
    const std::string all = head + chunks;
    EXPECT_EQ(refusal_of(all, limits), 400U) << chunks;
    HttpParser parser(limits);
    Status status = Status::more;
    for (std::size_t size = 1; status == Status::more && size <= all.size(); ++size)
      status = parser.parse(std::string_view(all).substr(0, size));
    EXPECT_EQ(status, Status::refused) << chunks;
  }
}

TEST(HttpParser, GoesOnToTheNextRequest) {
  const std::string first = "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n";
  const std::string second = "\r\nGET /2 HTTP/1.0\r\n\r\n";
  HttpParser parser({});
  ASSERT_EQ(parser.parse(first + second), Status::complete);
  EXPECT_EQ(parser.size(), first.size());
  parser.next();
  ASSERT_EQ(parser.parse(second), Status::complete);
  EXPECT_EQ(parser.request().target, "/2");
  EXPECT_FALSE(parser.keep_alive());
  EXPECT_EQ(parser.version(), 10);
}

TEST(HttpParser, RefusesWhatOthersReadDifferently) {
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\n\r\n"), 400U) << "no Host";
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400U);
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: a<b\r\n\r\n"), 400U);
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n"), 400U) << "folded";
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\tz\r\n\r\n"), 400U) << "folded";
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n"), 400U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
            501U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n"), 501U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                       "Content-Length: 3\r\n\r\n"),
            400U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
                       "Content-Length: 1\r\n\r\n"),
            400U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"), 400U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1 1\r\n\r\n"), 400U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1,1\r\n\r\nx"), 400U);
  EXPECT_EQ(refusal_of("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505U);
  EXPECT_EQ(refusal_of("GET here HTTP/1.1\r\nHost: a\r\n\r\n"), 400U);
  EXPECT_EQ(refusal_of("nonsense\r\n\r\n"), 400U);
  // At once: nobody waits for more.
  for (const std::string_view other :
       {std::string_view("\x16\x03\x01"), std::string_view("\0\0\0\x10", 4),
        std::string_view("hi\r\n")})
    EXPECT_EQ(refusal_of(other), 400U) << other;
  for (const std::string_view begun : {"\r", "\r\n", "\r\nGE", "GET / HTTP/1.1\r\nHo"})
    EXPECT_EQ(refusal_of(begun), 0U) << begun;
  for (const char* short_line : {"GET\r\n\r\n", "GET / \r\n\r\n", " \r\n\r\n"})
    EXPECT_EQ(refusal_of(short_line), 400U) << short_line;
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n"), 417U);
}

TEST(HttpParser, BoundsHeadFieldsAndBody) {
  HttpLimits limits;
  limits.head_bytes_max = 200;
  limits.fields_max = 3;
  limits.body_bytes_max = 10;
  EXPECT_EQ(refusal_of("GET /" + std::string(300, 'a'), limits), 431U);
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: 1\r\nC: 1\r\n\r\n", limits), 431U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n", limits), 413U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "6\r\nabcdef\r\n6\r\nabcdef\r\n",
                       limits),
            413U);
}

TEST(HttpParser, TellsWhoWaitsToBeAskedForTheBody) {
  HttpParser parser({});
  ASSERT_EQ(parser.parse("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\n"
                         "Content-Length: 2\r\n\r\n"),
            Status::more);
  EXPECT_TRUE(parser.has_head());
  EXPECT_TRUE(parser.expects_continue());
}

TEST(HttpParser, TakesThePathOfAnAbsoluteTarget) {
  HttpParser parser({});
  ASSERT_EQ(parser.parse("GET http://h:1/a?b HTTP/1.1\r\nHost: h:1\r\n\r\n"), Status::complete);
  EXPECT_EQ(parser.request().target, "/a?b");
}

}  // namespace
}  // namespace canopy::gateway
