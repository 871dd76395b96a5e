#include "store/posix_disk.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "store/damage.hpp"

namespace canopy::store {
namespace {

using boost::system::error_code;
using boost::system::result;

constexpr std::size_t pieces_max = 512;  // of one system call; IOV_MAX is 1024

// Writing to reserved room for the first time changes the file system's records
// of the file, which a sync then has to write as well: three writes instead of
// two on ext4. So zeros go ahead of what is written, this much at a time.
constexpr std::uint64_t zeros_ahead = std::uint64_t{256} << 10;

error_code last_error() { return {errno, boost::system::system_category()}; }
error_code error_unless(bool done) { return done ? error_code() : last_error(); }

class PosixFile final : public File {
 public:
  explicit PosixFile(int descriptor) : descriptor_(descriptor) {
    struct stat file {};
    if (::fstat(descriptor, &file) == 0)
      used_ = reserved_ = static_cast<std::uint64_t>(file.st_size);
  }
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() override { ::close(descriptor_); }

  error_code write(std::uint64_t offset, std::span<const std::string_view> pieces) override {
    std::array<iovec, pieces_max> vectors;
    while (!pieces.empty()) {
      std::size_t count = std::min(pieces.size(), vectors.size());
      for (std::size_t i = 0; i < count; ++i)
        vectors[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
      if (error_code error = write_all(offset, std::span(vectors).first(count))) return error;
      pieces = pieces.subspan(count);
    }
    return write_zeros(offset);
  }

  error_code sync() override { return error_unless(::fdatasync(descriptor_) == 0); }

  error_code allocate(std::uint64_t size) override {
    int result = 0;
    do {
      result = ::fallocate(descriptor_, 0, 0, static_cast<off_t>(size));
    } while (result != 0 && errno == EINTR);
    // Where the file system cannot, writes find out whether there is room.
    if (result != 0 && errno == EOPNOTSUPP)
      return error_unless(::ftruncate(descriptor_, static_cast<off_t>(size)) == 0);
    if (result != 0) return last_error();
    reserved_ = std::max(reserved_, size);
    return {};
  }

  error_code truncate(std::uint64_t size) override {
    used_ = reserved_ = size;
    return error_unless(::ftruncate(descriptor_, static_cast<off_t>(size)) == 0);
  }

 private:
  // Moves `offset` behind what it wrote.
  error_code write_all(std::uint64_t& offset, std::span<iovec> vectors) {
    while (!vectors.empty()) {
      ssize_t written = ::pwritev(descriptor_, vectors.data(), static_cast<int>(vectors.size()),
                                  static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return last_error();
      if (written == 0) return {ENOSPC, boost::system::system_category()};
      offset += static_cast<std::uint64_t>(written);
      vectors = rest_of(vectors, static_cast<std::size_t>(written));
    }
    return {};
  }

  // If what was written, up to `end`, has gone beyond those that there were.
  error_code write_zeros(std::uint64_t end) {
    if (end <= used_) return {};
    used_ = end;
    if (end >= reserved_) return {};
    static const std::string zeros(zeros_ahead, '\0');
    used_ = std::min(reserved_, end + zeros_ahead);
    std::array<iovec, 1> vectors{{{const_cast<char*>(zeros.data()), used_ - end}}};
    return write_all(end, vectors);
  }

  static std::span<iovec> rest_of(std::span<iovec> vectors, std::size_t written) {
    while (!vectors.empty() && written >= vectors.front().iov_len) {
      written -= vectors.front().iov_len;
      vectors = vectors.subspan(1);
    }
    if (!vectors.empty()) {
      vectors.front().iov_base = static_cast<char*>(vectors.front().iov_base) + written;
      vectors.front().iov_len -= written;
    }
    return vectors;
  }

  int descriptor_;
  std::uint64_t used_ = 0;      // written before, if only with zeros
  std::uint64_t reserved_ = 0;  // with what has not been
};

}  // namespace

PosixDisk::PosixDisk(std::string directory) : directory_path_(std::move(directory)) {
  std::error_code failed;
  std::filesystem::create_directories(directory_path_, failed);
  if (failed) throw Damage(directory_path_, "cannot be made: " + failed.message());
  directory_ = ::open(directory_path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_ < 0) throw Damage(directory_path_, "cannot be opened: " + last_error().message());
  try {
    lock();
  } catch (...) {
    ::close(directory_);
    throw;
  }
}

void PosixDisk::lock() {
  lock_ = ::openat(directory_, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0) throw Damage(path("lock"), "cannot be made: " + last_error().message());
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(lock_);
  throw Damage(directory_path_, "is in use by another process");
}

PosixDisk::~PosixDisk() {
  ::close(lock_);  // which unlocks
  ::close(directory_);
}

result<std::vector<std::string>> PosixDisk::list() {
  std::vector<std::string> names;
  std::error_code failed;
  std::filesystem::directory_iterator entries(directory_path_, failed);
  while (!failed && entries != std::filesystem::directory_iterator()) {
    names.push_back(entries->path().filename().string());
    entries.increment(failed);
  }
  if (failed) return error_code(failed.value(), boost::system::system_category());
  std::sort(names.begin(), names.end());
  return names;
}

result<std::string> PosixDisk::read(const std::string& name, std::uint64_t offset,
                                    std::uint64_t size_max) {
  int file = ::openat(directory_, name.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return last_error();
  error_code error;
  struct stat status {};
  if (::fstat(file, &status) != 0) error = last_error();
  auto size = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
  std::string bytes(std::min(size_max, size - std::min(size, offset)), '\0');
  std::size_t done = 0;
  while (!error && done < bytes.size()) {
    ssize_t got =
        ::pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = last_error();
    if (got == 0) bytes.resize(done);
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  ::close(file);
  if (error) return error;
  return bytes;
}

result<std::unique_ptr<File>> PosixDisk::open(const std::string& name, bool create) {
  int flags = O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_TRUNC : 0);
  int file = ::openat(directory_, name.c_str(), flags, 0600);
  if (file < 0) return last_error();
  return std::unique_ptr<File>(std::make_unique<PosixFile>(file));
}

error_code PosixDisk::rename(const std::string& from, const std::string& to) {
  return error_unless(::renameat(directory_, from.c_str(), directory_, to.c_str()) == 0);
}

error_code PosixDisk::remove(const std::string& name) {
  return error_unless(::unlinkat(directory_, name.c_str(), 0) == 0);
}

error_code PosixDisk::sync() { return error_unless(::fsync(directory_) == 0); }

std::string PosixDisk::path(const std::string& name) const { return directory_path_ + "/" + name; }

error_code sync_directory(const std::string& path) {
  int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return last_error();
  error_code error = error_unless(::fsync(directory) == 0);
  ::close(directory);
  return error;
}

}  // namespace canopy::store
