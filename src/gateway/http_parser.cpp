#include "gateway/http_parser.hpp"

#include <algorithm>
#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include "base/assert.hpp"

namespace canopy::gateway {

namespace http = boost::beast::http;
using boost::system::error_code;
using Text = boost::beast::string_view;

namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view head_end = "\r\n\r\n";

// Chunk sizes, extensions and line ends take room, too: a byte a chunk takes six.
constexpr std::size_t chunk_overhead = 8;

// "0" and two line ends: so much is still to come whenever a body is not at its end. Beast (1.81)
// fails an assertion if it sees a last chunk's line, and then a byte more and no more.
constexpr std::size_t last_chunk_size_min = 5;

bool is_host(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~:[]%").find(c) != std::string_view::npos;
  });
}

// Beast takes a list of equal numbers for one.
bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// What talks TLS or something else here would wait for an answer, and this for the rest.
bool may_become_request(std::string_view arrived) {
  const std::string_view line = arrived.substr(0, arrived.find('\n'));
  const bool is_text = std::all_of(line.begin(), line.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' || c == '\t' || c == '\r';
  });
  const bool is_whole = line.size() < arrived.size();
  return is_text && (!is_whole || line.find(" HTTP/") != std::string_view::npos || line == "\r");
}

// The path of a target in absolute form, as proxies get it.
std::string_view path_of_target(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const std::size_t slash = target.find('/', scheme.size());
    return slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
  }
  return target;
}

}  // namespace

// Keeps where the parts of a head are, and what is in the chunks.
class HttpParser::Reader final : public http::basic_parser<true> {
 public:
  explicit Reader(HttpParser& parser) : parser_(parser) {
    header_limit(static_cast<std::uint32_t>(parser.limits_.head_bytes_max));
    body_limit(parser.limits_.body_bytes_max);
  }

  // Where the bytes of the next put() are among those that have arrived.
  void set_base(const char* base) { base_ = base; }

 private:
  Span span_of(Text text) const {
    return {static_cast<std::size_t>(text.data() - base_), text.size()};
  }

  void on_request_impl(http::verb, Text method, Text target, int version, error_code&) override {
    parser_.method_ = span_of(method);
    parser_.target_ = span_of(target);
    parser_.version_ = version;
  }
  void on_response_impl(int, Text, int, error_code&) override {}
  void on_field_impl(http::field, Text name, Text value, error_code& error) override {
    if (in_body_) return;  // trailers say nothing that is used
    if (parser_.fields_.size() == parser_.limits_.fields_max)
      error = http::error::header_limit;
    else
      parser_.fields_.push_back({span_of(name), span_of(value)});
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {
    in_body_ = true;
  }
  // Bodies without chunks are not given to this parser.
  std::size_t on_body_impl(Text, error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, Text extensions, error_code& error) override {
    const Span span = span_of(extensions);
    if (parser_.is_too_long(span.begin + span.size)) error = http::error::header_limit;
  }
  std::size_t on_chunk_body_impl(std::uint64_t, Text bytes, error_code&) override {
    parser_.chunked_body_.append(bytes.data(), bytes.size());
    const Span span = span_of(bytes);
    parser_.between_chunks_ = span.begin + span.size;
    return bytes.size();
  }
  void on_finish_impl(error_code&) override {}

  HttpParser& parser_;
  const char* base_ = nullptr;
  bool in_body_ = false;
};

HttpParser::HttpParser(HttpLimits limits, bool secure) : limits_(limits), secure_(secure) {
  fields_.reserve(16);
}
HttpParser::~HttpParser() = default;

void HttpParser::next() {
  reader_.reset();
  skipped_ = searched_ = head_size_ = content_length_ = chunks_read_ = between_chunks_ = 0;
  wanted_ = size_ = 0;
  fields_.clear();
  request_ = {};
  chunked_body_.clear();
  chunked_body_.shrink_to_fit();
  expects_continue_ = chunked_ = false;
  keep_alive_ = true;
}

HttpParser::Status HttpParser::refuse(unsigned status, std::string_view reason) {
  refusal_ = {status, reason};
  return Status::refused;
}

HttpParser::Status HttpParser::parse(std::string_view arrived) {
  if (head_size_ == 0) {
    if (!find_head(arrived)) {
      if (!may_become_request(arrived.substr(skipped_)))
        return refuse(400, "this is no HTTP request; is it TLS?");
      if (arrived.size() - skipped_ > limits_.head_bytes_max)
        return refuse(431, "the head is too long");
      return Status::more;
    }
    if (const Status status = read_head(arrived); status != Status::complete) return status;
  }
  return read_body(arrived);
}

bool HttpParser::find_head(std::string_view arrived) {
  // An empty line left over by an older client's request is no request.
  while (skipped_ < 4 && arrived.substr(skipped_).starts_with(line_end)) skipped_ += 2;
  const std::size_t from = std::max(skipped_, searched_ > 3 ? searched_ - 3 : 0);
  const std::size_t found = arrived.find(head_end, from);
  searched_ = arrived.size();
  if (found == std::string_view::npos) return false;
  head_size_ = found + head_end.size();
  return true;
}

HttpParser::Status HttpParser::read_head(std::string_view arrived) {
  const std::string_view head = arrived.substr(skipped_, head_size_ - skipped_);
  if (head.size() > limits_.head_bytes_max) return refuse(431, "the head is too long");
  if (head.find("\n ") != std::string_view::npos || head.find("\n\t") != std::string_view::npos)
    return refuse(400, "folded header fields are not accepted");
  reader_ = std::make_unique<Reader>(*this);
  reader_->set_base(arrived.data());
  error_code error;
  reader_->put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error == http::error::bad_version) return refuse(505, "the HTTP version is not supported");
  if (error == http::error::header_limit) return refuse(431, "there are too many header fields");
  if (error == http::error::body_limit) return refuse(413, "the body is too long");
  // All of it is here, but what is too short for a request line wants more.
  if ((error && error != http::error::need_more) || !reader_->is_header_done())
    return refuse(400, "the head is malformed");
  keep_alive_ = reader_->keep_alive();
  chunked_ = reader_->chunked();
  between_chunks_ = head_size_;
  const auto length = reader_->content_length();
  content_length_ = length ? static_cast<std::size_t>(*length) : 0;
  if (const Status status = check_head(arrived); status != Status::complete) return status;
  return check_framing(arrived);
}

HttpParser::Status HttpParser::check_head(std::string_view arrived) {
  const auto text = [&](Span span) { return arrived.substr(span.begin, span.size); };
  std::size_t hosts = 0;
  for (const FieldSpans& field : fields_) {
    const std::string_view name = text(field.name);
    const std::string_view value = text(field.value);
    if (equal_ignoring_case(name, "host")) {
      ++hosts;
      if (!is_host(value)) return refuse(400, "the field Host is malformed");
    } else if (equal_ignoring_case(name, "expect")) {
      if (!equal_ignoring_case(value, "100-continue"))
        return refuse(417, "only 100-continue can be expected");
      expects_continue_ = version_ >= 11;
    }
  }
  if (hosts > 1) return refuse(400, "the field Host is there more than once");
  if (hosts == 0 && version_ >= 11) return refuse(400, "the field Host is missing");
  if (!path_of_target(text(target_)).starts_with('/')) return refuse(400, "the target is no path");
  return Status::complete;
}

HttpParser::Status HttpParser::check_framing(std::string_view arrived) {
  const auto text = [&](Span span) { return arrived.substr(span.begin, span.size); };
  std::size_t encodings = 0, lengths = 0;
  bool exactly_chunked = true;
  for (const FieldSpans& field : fields_) {
    if (equal_ignoring_case(text(field.name), "content-length")) {
      ++lengths;
      if (!is_number(text(field.value))) return refuse(400, "the Content-Length is no number");
    }
    if (!equal_ignoring_case(text(field.name), "transfer-encoding")) continue;
    ++encodings;
    exactly_chunked = exactly_chunked && equal_ignoring_case(text(field.value), "chunked");
  }
  if (lengths > 1) return refuse(400, "the field Content-Length is there more than once");
  if (encodings > 0) {
    if (version_ < 11) return refuse(400, "HTTP/1.0 has no Transfer-Encoding");
    if (lengths > 0) return refuse(400, "both Content-Length and Transfer-Encoding are there");
    if (encodings > 1 || !exactly_chunked || !chunked_)
      return refuse(501, "Transfer-Encoding can only be chunked");
  }
  if (content_length_ > limits_.body_bytes_max) return refuse(413, "the body is too long");
  return Status::complete;
}

HttpParser::Status HttpParser::read_body(std::string_view arrived) {
  if (chunked_) return read_chunks(arrived);
  wanted_ = head_size_ + content_length_;
  if (arrived.size() < wanted_) return Status::more;
  return complete(arrived, arrived.substr(head_size_, content_length_), wanted_);
}

HttpParser::Status HttpParser::read_chunks(std::string_view arrived) {
  const std::size_t rest_max = limits_.head_bytes_max + chunk_overhead * limits_.body_bytes_max;
  while (!reader_->is_done()) {
    const std::string_view rest = arrived.substr(head_size_ + chunks_read_);
    if (rest.size() < last_chunk_size_min) break;
    error_code error;
    reader_->set_base(arrived.data());
    const std::size_t used =
        reader_->put(boost::asio::const_buffer(rest.data(), rest.size()), error);
    chunks_read_ += used;
    if (error == http::error::body_limit) return refuse(413, "the body is too long");
    const bool waits = error == http::error::need_more;
    // The line of a chunk's size, or the trailers; however it arrives.
    if (error == http::error::header_limit ||
        ((waits || reader_->is_done()) &&
         is_too_long(waits ? arrived.size() : head_size_ + chunks_read_)))
      return refuse(400, "a chunk's head is too long");
    if (error && !waits) return refuse(400, "a chunk is malformed");
    if (error || used == 0) break;
  }
  if (reader_->is_done()) return complete(arrived, chunked_body_, head_size_ + chunks_read_);
  return chunks_read_ > rest_max ? refuse(413, "the body is too long") : Status::more;
}

HttpParser::Status HttpParser::complete(std::string_view arrived, std::string_view body,
                                        std::size_t size) {
  const auto text = [&](Span span) { return arrived.substr(span.begin, span.size); };
  request_.method = text(method_);
  request_.target = path_of_target(text(target_));
  request_.secure = secure_;
  request_.fields.clear();
  request_.fields.reserve(fields_.size());
  for (const FieldSpans& field : fields_)
    request_.fields.push_back({text(field.name), text(field.value)});
  request_.body = body;
  size_ = size;
  return Status::complete;
}

}  // namespace canopy::gateway
