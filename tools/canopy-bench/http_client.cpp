#include "canopy-bench/http_client.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <netinet/tcp.h>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <unistd.h>

namespace canopy::tools {

namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::size_t head_max = 64 * 1024;

bool same_word(std::string_view text, std::string_view lower_case) {
  const auto same = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 'a' - 'A') : a) == b;
  };
  return text.size() == lower_case.size() &&
         std::equal(text.begin(), text.end(), lower_case.begin(), same);
}

std::size_t number(std::string_view text, int base) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end == text.data()) throw BadHttp();
  return value;
}

struct Head {
  int status = 0;
  std::size_t size = 0;
  std::size_t body_size = 0;
  bool chunked = false;
  bool closes = false;
};

void read_field(std::string_view line, Head& head) {
  const std::size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  const auto value = [&] {
    std::string_view text = line.substr(std::min(colon + 1, line.size()));
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return text;
  };
  if (same_word(name, "content-length"))
    head.body_size = number(value(), 10);
  else if (same_word(name, "transfer-encoding"))
    head.chunked = same_word(value(), "chunked");
  else if (same_word(name, "connection"))
    head.closes = same_word(value(), "close");
}

std::optional<Head> read_head(std::string_view bytes) {
  constexpr std::string_view start = "HTTP/1.";
  constexpr std::size_t status_at = start.size() + 2;
  Head head;
  for (std::size_t at = 0;;) {
    const std::size_t end = bytes.find(line_end, at);
    if (end == bytes.npos) {
      if (bytes.size() > head_max) throw BadHttp();
      return std::nullopt;
    }
    const std::string_view line = bytes.substr(at, end - at);
    if (at == 0) {
      if (!line.starts_with(start) || line.size() < status_at + 3) throw BadHttp();
      head.status = static_cast<int>(number(line.substr(status_at, 3), 10));
      head.closes = line[start.size()] == '0';
    } else if (line.empty()) {
      head.size = end + line_end.size();
      return head;
    } else {
      read_field(line, head);
    }
    at = end + line_end.size();
  }
}

// The size of the chunks, into `body` their contents; nothing while one lacks.
std::optional<std::size_t> read_chunks(std::string_view bytes, std::string& body) {
  body.clear();
  for (std::size_t at = 0;;) {
    const std::size_t end = bytes.find(line_end, at);
    if (end == bytes.npos) return std::nullopt;
    const std::size_t size = number(bytes.substr(at, end - at), 16);
    at = end + line_end.size();
    if (size > bytes.size() || at + size + line_end.size() > bytes.size()) return std::nullopt;
    body += bytes.substr(at, size);
    at += size + line_end.size();
    if (size == 0) return at;
  }
}

}  // namespace

Target resolve(const std::string& url) {
  constexpr std::string_view scheme = "http://";
  Target target;
  target.url = url.substr(0, url.find_last_not_of('/') + 1);
  const std::size_t colon = target.url.rfind(':');
  if (!target.url.starts_with(scheme) || colon < scheme.size() ||
      target.url.find('/', scheme.size()) != std::string::npos)
    throw std::runtime_error(fmt::format("'{}' is no http://HOST:PORT", url));
  target.host = target.url.substr(scheme.size());
  std::string name = target.url.substr(scheme.size(), colon - scheme.size());
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);

  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(name.c_str(), url.c_str() + colon + 1, &hints, &found);
  if (error != 0)
    throw std::runtime_error(fmt::format("cannot resolve {}: {}", url, ::gai_strerror(error)));
  std::memcpy(&target.address, found->ai_addr, found->ai_addrlen);
  target.address_size = found->ai_addrlen;
  ::freeaddrinfo(found);
  return target;
}

Descriptor connect_to(const Target& target) {
  Descriptor socket(::socket(target.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* address = reinterpret_cast<const sockaddr*>(&target.address);
  const int on = 1;
  if (socket.fd() < 0 || ::connect(socket.fd(), address, target.address_size) < 0 ||
      ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
    throw std::runtime_error(
        fmt::format("cannot connect to {}: {}", target.url, std::strerror(errno)));
  return socket;
}

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<HttpAnswer> scan_answer(std::string_view bytes, std::string& unchunked) {
  const auto head = read_head(bytes);
  if (!head) return std::nullopt;
  const std::string_view rest = bytes.substr(head->size);
  HttpAnswer answer{head->status, {}, head->size, head->closes};
  if (head->chunked) {
    const auto size = read_chunks(rest, unchunked);
    if (!size) return std::nullopt;
    answer.body = unchunked;
    answer.size += *size;
  } else {
    if (rest.size() < head->body_size) return std::nullopt;
    answer.body = rest.substr(0, head->body_size);
    answer.size += head->body_size;
  }
  return answer;
}

}  // namespace canopy::tools
