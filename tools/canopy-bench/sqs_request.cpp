#include "canopy-bench/sqs_request.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <sys/time.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "gateway/sha256.hpp"

namespace canopy::tools {

namespace {

constexpr std::string_view content_type = "application/x-amz-json-1.0";
constexpr std::string_view signed_headers = "content-type;host;x-amz-date;x-amz-target";
constexpr std::size_t timestamp_size = 16;
constexpr std::size_t day_size = 8;
constexpr std::size_t hash_size = 64;

}  // namespace

SqsRequest::SqsRequest(const Target& target, const Signer* signer, std::string_view action)
    : signer_(signer) {
  bytes_ = fmt::format(
      "POST / HTTP/1.1\r\nHost: {}\r\nContent-Type: {}\r\nX-Amz-Target: AmazonSQS.{}\r\n",
      target.host, content_type, action);
  if (signer_) {
    append_authorization();
    canonical_ =
        fmt::format("POST\n/\n\ncontent-type:{}\nhost:{}\nx-amz-date:", content_type, target.host);
    canonical_date_at_ = canonical_.size();
    canonical_ += fmt::format("{}\nx-amz-target:AmazonSQS.{}\n\n{}\n",
                              std::string(timestamp_size, '0'), action, signed_headers);
    canonical_hash_at_ = canonical_.size();
    canonical_ += std::string(hash_size, '0');
  }
  bytes_ += "Content-Length: ";
  head_size_ = bytes_.size();
}

void SqsRequest::append_authorization() {
  bytes_ += "X-Amz-Date: ";
  date_at_ = bytes_.size();
  bytes_ += fmt::format("{}\r\nAuthorization: AWS4-HMAC-SHA256 Credential={}/",
                        std::string(timestamp_size, '0'), signer_->key_id());
  day_at_ = bytes_.size();
  bytes_ += fmt::format("{}/{}/sqs/aws4_request, SignedHeaders={}, Signature=",
                        std::string(day_size, '0'), signer_->region(), signed_headers);
  signature_at_ = bytes_.size();
  bytes_ += std::string(hash_size, '0') + "\r\n";
}

void SqsRequest::set_body(std::string_view body) {
  bytes_.resize(head_size_);
  fmt::format_to(std::back_inserter(bytes_), "{}\r\n\r\n", body.size());
  body_at_ = bytes_.size();
  bytes_ += body;
}

void SqsRequest::put(std::size_t at, std::string_view text) {
  text.copy(bytes_.data() + at, text.size());
}

void SqsRequest::sign() {
  const std::string_view body_bytes = std::string_view(bytes_).substr(body_at_);
  const std::string hash = to_hex(gateway::view_of(gateway::sha256(body_bytes)));
  signer_->timestamp().copy(canonical_.data() + canonical_date_at_, timestamp_size);
  hash.copy(canonical_.data() + canonical_hash_at_, hash_size);
  put(date_at_, signer_->timestamp());
  put(day_at_, signer_->day());
  put(signature_at_, signer_->sign(canonical_));
}

std::string_view SqsRequest::bytes() {
  if (signer_) sign();
  return bytes_;
}

namespace {

void send_all(const Descriptor& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) throw std::runtime_error(std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

HttpAnswer receive_answer(const Descriptor& socket, std::string& bytes, std::string& unchunked) {
  char buffer[16 * 1024];
  for (;;) {
    const ssize_t received = ::recv(socket.fd(), buffer, sizeof buffer, 0);
    if (received == 0) throw std::runtime_error("the server closed the connection");
    if (received < 0)
      throw std::runtime_error(errno == EAGAIN ? "no answer in time" : std::strerror(errno));
    bytes.append(buffer, static_cast<std::size_t>(received));
    if (const auto answer = scan_answer(bytes, unchunked)) return *answer;
  }
}

std::string text_after(std::string_view body, std::string_view key) {
  const auto at = body.find(key);
  if (at == body.npos) return {};
  const auto start = body.find('"', at + key.size());
  if (start == body.npos) return {};
  return std::string(body.substr(start + 1, body.find('"', start + 1) - start - 1));
}

}  // namespace

std::string error_code(int status, std::string_view body) {
  const std::string type = text_after(body, "\"__type\"");
  if (type.empty()) return fmt::format("HTTP {}", status);
  return type.substr(type.find('#') + 1);
}

std::string call(const Target& target, const std::optional<SigningKey>& key,
                 std::string_view action, std::string_view body) {
  try {
    Signer signer(key.value_or(SigningKey()));
    signer.set_time(::time(nullptr));
    SqsRequest request(target, key ? &signer : nullptr, action);
    request.set_body(body);
    const Descriptor socket = connect_to(target);
    const timeval patience{10, 0};
    ::setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    send_all(socket, request.bytes());
    std::string bytes;
    std::string unchunked;
    const HttpAnswer answer = receive_answer(socket, bytes, unchunked);
    if (answer.status == 200) return std::string(answer.body);
    throw std::runtime_error(fmt::format("{} {}", error_code(answer.status, answer.body),
                                         text_after(answer.body, "\"message\"")));
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}", action, error.what()));
  }
}

}  // namespace canopy::tools
