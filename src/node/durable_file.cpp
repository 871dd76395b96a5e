#include "node/durable_file.hpp"

#include <cerrno>
#include <cstdio>

#include <boost/system/system_error.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "store/posix_disk.hpp"

namespace canopy::node {

using boost::system::error_code;

error_code last_error() { return {errno, boost::system::system_category()}; }

error_code write_file(const std::string& path, const std::string& bytes) {
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return last_error();
  error_code error;
  const ssize_t written = ::write(file, bytes.data(), bytes.size());
  if (written < 0)
    error = last_error();
  else if (static_cast<std::size_t>(written) != bytes.size())
    error = error_code(ENOSPC, boost::system::system_category());  // there was room for a part
  if (!error && ::fsync(file) != 0) error = last_error();
  ::close(file);
  return error;
}

error_code replace_file(const std::string& directory, const std::string& name,
                        const std::string& bytes) {
  const std::string path = directory + "/" + name;
  const std::string fresh = path + ".new";
  if (error_code error = write_file(fresh, bytes)) return error;
  if (::rename(fresh.c_str(), path.c_str()) != 0) return last_error();
  return store::sync_directory(directory);
}

}  // namespace canopy::node
