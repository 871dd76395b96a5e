// Finds requests in the bytes of a connection (HTTP/1.1, RFC 9112), with
// Boost.Beast's parser and a stricter idea of what may pass: what proxies and
// servers are known to understand differently is refused.
//
// The bytes stay where they are: a Request views them. One request at a time:
// parse() until it is complete, use request(), then next(). One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/http_request.hpp"

namespace canopy::gateway {

struct HttpLimits {
  std::size_t head_bytes_max = 16 * 1'024;
  std::size_t fields_max = 100;
  // A message of 1 MiB can be six times as long in JSON, with every character
  // escaped.
  std::size_t body_bytes_max = 8 * 1'024 * 1'024;
};

class HttpParser {
 public:
  enum class Status : std::uint8_t {
    more,      // is not all there yet
    complete,  // request() can be used
    refused,   // refusal() says why; nothing more can be read
  };
  struct Refusal {
    unsigned status = 400;
    std::string_view reason;  // for people
  };

  // `secure`: over TLS, which requests say.
  explicit HttpParser(HttpLimits limits, bool secure = false);
  ~HttpParser();
  HttpParser(const HttpParser&) = delete;
  HttpParser& operator=(const HttpParser&) = delete;

  // All bytes that have arrived since the end of the request before. Between
  // calls the same bytes may move to another place.
  Status parse(std::string_view arrived);

  // --- Of a request that is complete ---
  const Request& request() const noexcept { return request_; }
  std::size_t size() const noexcept { return size_; }  // in bytes of `arrived`
  bool keep_alive() const noexcept { return keep_alive_; }

  // --- Of one whose head is ---
  bool has_head() const noexcept { return head_size_ > 0; }
  int version() const noexcept { return version_; }  // 10 or 11
  bool expects_continue() const noexcept { return expects_continue_; }
  // What `arrived` has to be at least; 0: not known.
  std::size_t wanted() const noexcept { return wanted_; }

  const Refusal& refusal() const noexcept { return refusal_; }

  void next();

 private:
  class Reader;  // Beast's
  struct Span {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  struct FieldSpans {
    Span name;
    Span value;
  };

  Status refuse(unsigned status, std::string_view reason);
  bool find_head(std::string_view arrived);
  Status read_head(std::string_view arrived);
  Status check_head(std::string_view arrived);
  Status check_framing(std::string_view arrived);
  Status read_body(std::string_view arrived);
  // What follows the last chunk, if it goes up to here.
  bool is_too_long(std::size_t end) const noexcept {
    return end > between_chunks_ + limits_.head_bytes_max;
  }
  Status read_chunks(std::string_view arrived);
  Status complete(std::string_view arrived, std::string_view body, std::size_t size);

  const HttpLimits limits_;
  const bool secure_;
  std::unique_ptr<Reader> reader_;

  std::size_t skipped_ = 0;    // line ends before the request line
  std::size_t searched_ = 0;   // for the end of the head
  std::size_t head_size_ = 0;  // with what was skipped; 0: not found yet
  Span method_;
  Span target_;
  std::vector<FieldSpans> fields_;
  int version_ = 11;
  bool keep_alive_ = true;
  bool expects_continue_ = false;
  bool chunked_ = false;
  std::size_t content_length_ = 0;
  std::size_t chunks_read_ = 0;     // bytes of `arrived` behind the head
  std::size_t between_chunks_ = 0;  // where in `arrived` the last one ended
  std::string chunked_body_;
  std::size_t wanted_ = 0;

  Request request_;
  std::size_t size_ = 0;
  Refusal refusal_;
};

}  // namespace canopy::gateway
