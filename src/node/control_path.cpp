#include "node/control_path.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>

#include <fmt/format.h>
#include <unistd.h>

#include "net/listen_error.hpp"

namespace canopy::node {

namespace {

constexpr mode_t owner_only = 0700;
constexpr mode_t others = 0077;

std::string default_directory() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  struct stat status {};
  if (runtime != nullptr && *runtime == '/' && ::stat(runtime, &status) == 0 &&
      S_ISDIR(status.st_mode))
    return std::string(runtime) + "/canopy";
  return fmt::format("/tmp/canopy-{}", ::getuid());
}

}  // namespace

std::string default_control_path() { return default_directory() + "/control.sock"; }

void prepare_control_directory(const std::string& path) {
  if (path != default_control_path()) return;
  const std::string directory = default_directory();
  const auto refuse = [&directory](std::string_view why) {
    throw net::ListenError(fmt::format(
        "control directory {}: {}: name another socket with --control", directory, why));
  };
  if (::mkdir(directory.c_str(), owner_only) != 0 && errno != EEXIST) refuse(std::strerror(errno));
  struct stat status {};
  if (::lstat(directory.c_str(), &status) != 0) refuse(std::strerror(errno));
  if (!S_ISDIR(status.st_mode)) refuse("is no directory");
  if (status.st_uid != ::geteuid()) refuse("belongs to another user");
  if ((status.st_mode & others) != 0) refuse("is open to other users");
}

}  // namespace canopy::node
