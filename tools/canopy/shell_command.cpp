#include "canopy/shell_command.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <sys/wait.h>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include "canopy/failure.hpp"
#include "canopy/marked_processes.hpp"

namespace canopy::tools {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::size_t chunk_bytes = std::size_t{64} << 10;

[[noreturn]] void fail(int error) {
  throw Failure(fmt::format("cannot run /bin/sh: {}", std::strerror(error)));
}

struct Pipe {
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) fail(errno);
  }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int release(int index) { return std::exchange(ends[index], -1); }
  int ends[2]{};  // to read, to write
};

// This program's environment, and the mark.
std::vector<char*> environment_with(std::string& mark) {
  std::vector<char*> entries{mark.data()};
  const std::string_view name(mark.data(), mark.find('=') + 1);
  for (char** entry = environ; *entry; ++entry)
    if (!std::string_view(*entry).starts_with(name)) entries.push_back(*entry);
  entries.push_back(nullptr);
  return entries;
}

pid_t spawn(const std::string& command, std::string mark, const Pipe& in, const Pipe& out) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&files, in.ends[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, out.ends[1], STDOUT_FILENO);
  // Else it would keep the connection to the daemon open when this program is killed.
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  sigset_t usual;  // what this program ignores the command need not
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  std::string words[] = {"sh", "-c", command};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, "/bin/sh", &files, &attributes, arguments, environment_with(mark).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) fail(error);
  return pid;
}

}  // namespace

ShellCommand::ShellCommand(asio::io_context& io, const std::string& command, std::string mark,
                           std::string input, std::size_t output_bytes_max,
                           std::function<void(Result)> done)
    : to_(io),
      from_(io),
      mark_(std::move(mark)),
      input_(std::move(input)),
      output_bytes_max_(output_bytes_max),
      chunk_(chunk_bytes, '\0'),
      done_(std::move(done)) {
  Pipe in;
  Pipe out;
  pid_ = spawn(command, mark_, in, out);
  to_.assign(in.release(1));
  from_.assign(out.release(0));
  to_.non_blocking(true);
  from_.non_blocking(true);
  write();
  read();
}

ShellCommand::~ShellCommand() {
  if (pid_ < 0) return;
  kill();
  ::waitpid(pid_, nullptr, 0);
}

void ShellCommand::kill() noexcept {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  kill_marked_processes(mark_);
}

// It need not read all of it.
void ShellCommand::write() {
  to_.async_wait(to_.wait_write, [this, alive = std::weak_ptr(alive_)](error_code error) {
    if (alive.expired()) return;
    if (!error) written_ += to_.write_some(asio::buffer(input_) + written_, error);
    const bool goes_on = !error || error == asio::error::would_block;
    if (goes_on && written_ < input_.size())
      write();
    else
      to_.close();
  });
}

// Only waits: what a read had taken would not be there yet when the end is told.
void ShellCommand::read() {
  from_.async_wait(from_.wait_read, [this, alive = std::weak_ptr(alive_)](error_code error) {
    if (error || alive.expired()) return;
    const std::size_t size = from_.read_some(asio::buffer(chunk_), error);
    const bool goes_on = error ? error == asio::error::would_block : take(size);
    if (goes_on) read();
  });
}

bool ShellCommand::take(std::size_t size) {
  const std::size_t room = output_bytes_max_ - result_.output.size();
  result_.output.append(chunk_, 0, std::min(size, room));
  if (size <= room) return true;
  result_.cut = true;
  kill();
  return false;
}

bool ShellCommand::reap() {
  int status = 0;
  if (pid_ < 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return false;
  drain();
  ::kill(-pid_, SIGKILL);  // what it has left behind
  pid_ = -1;
  result_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  to_.close();
  from_.close();
  const auto done = std::move(done_);
  done(std::move(result_));
  return true;
}

// What it had written before it ended.
void ShellCommand::drain() {
  error_code error;
  while (!error) {
    const std::size_t size = from_.read_some(asio::buffer(chunk_), error);
    if (!error && !take(size)) return;
  }
}

}  // namespace canopy::tools
