#include "canopy/marked_processes.hpp"

#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <sys/syscall.h>
#include <system_error>

#include <unistd.h>

namespace canopy::tools {

namespace {

// Who was started while the others were looked at is found in the next one.
constexpr int rounds_max = 100;

bool has_entry(const std::filesystem::path& process, std::string_view entry) {
  std::ifstream file(process / "environ", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::string_view found(text.c_str() + begin);
    if (found == entry) return true;
    begin += found.size() + 1;
  }
  return false;
}

// The descriptor holds on to the process: nobody else gets its number's signal.
bool kill_if_marked(const std::filesystem::path& process, pid_t pid, std::string_view entry) {
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (descriptor < 0) return false;
  const bool killed = has_entry(process, entry) &&
                      ::syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, nullptr, 0) == 0;
  ::close(descriptor);
  return killed;
}

bool kill_some(std::string_view entry) {
  bool some = false;
  std::error_code error;
  for (std::filesystem::directory_iterator next("/proc", error), end; !error && next != end;
       next.increment(error)) {
    const std::string name = next->path().filename();
    pid_t pid = 0;
    const auto [stop, failed] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (failed != std::errc() || stop != name.data() + name.size() || pid == ::getpid()) continue;
    some |= kill_if_marked(next->path(), pid, entry);
  }
  return some;
}

}  // namespace

void kill_marked_processes(const std::string& entry) noexcept {
  try {
    for (int round = 0; round < rounds_max && kill_some(entry); ++round) continue;
  } catch (const std::exception&) {  // no memory
  }
}

}  // namespace canopy::tools
