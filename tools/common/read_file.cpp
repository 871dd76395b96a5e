#include "common/read_file.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <sys/stat.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace canopy::tools {

namespace {

class OpenFile {
 public:
  // Does not wait for a pipe's other end.
  explicit OpenFile(const std::string& path)
      : number_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (number_ < 0) throw std::runtime_error(std::strerror(errno));
  }
  ~OpenFile() { ::close(number_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  bool is_regular() const {
    struct stat info {};
    return ::fstat(number_, &info) == 0 && S_ISREG(info.st_mode);
  }

  std::size_t read(char* to, std::size_t bytes_max) const {
    const ssize_t got = ::read(number_, to, bytes_max);
    if (got < 0) throw std::runtime_error(std::strerror(errno));
    return static_cast<std::size_t>(got);
  }

 private:
  int number_;
};

constexpr std::size_t chunk_bytes = std::size_t{64} << 10;

}  // namespace

std::string read_file(const std::string& path, std::size_t bytes_max) {
  const OpenFile file(path);
  if (!file.is_regular()) throw std::runtime_error("it is no regular file");
  std::string text;
  for (std::size_t got = 1; got > 0;) {
    const std::size_t size = text.size();
    text.resize(size + chunk_bytes);
    got = file.read(text.data() + size, chunk_bytes);
    text.resize(size + got);
    if (text.size() > bytes_max)
      throw std::runtime_error(fmt::format("it has more than {} bytes", bytes_max));
  }
  return text;
}

}  // namespace canopy::tools
