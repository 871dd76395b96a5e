#include "canopy/input.hpp"

#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "canopy/failure.hpp"

namespace canopy::tools {

namespace asio = boost::asio;

namespace {

constexpr std::size_t chunk_bytes = std::size_t{64} << 10;

// Appends what there is; false at the end of the input.
bool read_chunk(std::string& to) {
  const std::size_t size = to.size();
  to.resize(size + chunk_bytes);
  ssize_t got = -1;
  do {
    got = ::read(STDIN_FILENO, to.data() + size, chunk_bytes);
  } while (got < 0 && errno == EINTR);
  to.resize(size + static_cast<std::size_t>(got > 0 ? got : 0));
  if (got < 0 && errno != EAGAIN)
    throw Failure(fmt::format("cannot read standard input: {}", std::strerror(errno)));
  return got != 0;
}

}  // namespace

std::string read_input(std::size_t bytes_max) {
  std::string text;
  while (read_chunk(text)) {
    if (text.size() > bytes_max) {
      throw Failure(fmt::format(
          "standard input holds more than {} bytes: send less, or use --lines for a message a line",
          bytes_max));
    }
  }
  return text;
}

LineReader::LineReader(asio::io_context& io, std::size_t line_bytes_max,
                       std::function<bool(std::string_view)> line, std::function<void()> end)
    : io_(io),
      input_(io, STDIN_FILENO, EPOLLIN),
      line_bytes_max_(line_bytes_max),
      line_(std::move(line)),
      end_(std::move(end)) {
  resume();
}

void LineReader::resume() {
  if (!hand_over_lines()) return;
  if (!ended_) return wait();
  if (!std::exchange(told_end_, true)) end_();
}

bool LineReader::at_end() {
  if (begin_ < buffer_.size()) return false;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (!ended_ && ::poll(&input, 1, 0) > 0) ended_ = !read_chunk(buffer_);
  return ended_;
}

void LineReader::wait() {
  if (std::exchange(pending_, true)) return;
  if (input_.works())
    input_.wait([this] { read(); });
  else
    asio::post(io_, [this] { read(); });
}

void LineReader::read() {
  pending_ = false;
  ended_ = !read_chunk(buffer_);
  resume();
}

// False: told to stop.
bool LineReader::hand_over_lines() {
  while (begin_ < buffer_.size()) {
    std::size_t end = buffer_.find('\n', begin_);
    if (end == std::string::npos) {
      if (buffer_.size() - begin_ > line_bytes_max_)
        throw Failure(
            fmt::format("line {} has more than {} bytes: send less", number_, line_bytes_max_));
      if (!ended_) break;
      end = buffer_.size();
    }
    const std::string_view line(buffer_.data() + begin_, end - begin_);
    begin_ = std::min(end + 1, buffer_.size());
    ++number_;
    if (!line_(line)) return false;
  }
  buffer_.erase(0, begin_);
  begin_ = 0;
  return true;
}

}  // namespace canopy::tools
