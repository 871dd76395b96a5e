// A command run through /bin/sh, with bytes for its standard input and a bound on
// its output. One thread, the loop's, which also has to tell of SIGCHLD: reap().
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

namespace canopy::tools {

class ShellCommand {
 public:
  struct Result {
    int status = 0;      // of the exit; 128 + N if signal N ended it
    std::string output;  // what fits the bound
    bool cut = false;    // there was more: it was killed for that
  };

  // Starts it, in a process group of its own, with `mark` (NAME=VALUE, another one for
  // each) in its environment. `done` is the last call, unless the object goes before.
  // Throws Failure if it cannot be started.
  ShellCommand(boost::asio::io_context& io, const std::string& command, std::string mark,
               std::string input, std::size_t output_bytes_max, std::function<void(Result)> done);
  // Kills it.
  ~ShellCommand();
  ShellCommand(const ShellCommand&) = delete;
  ShellCommand& operator=(const ShellCommand&) = delete;

  // Kills it and what it has started: its group, and whoever has the mark. done()
  // follows.
  void kill() noexcept;

  // A child has ended, maybe this one: true if so. done() is called then, which may
  // destroy this.
  bool reap();

 private:
  void write();
  void read();
  bool take(std::size_t size);
  void drain();

  boost::asio::posix::stream_descriptor to_;
  boost::asio::posix::stream_descriptor from_;
  pid_t pid_ = -1;
  std::string mark_;
  std::string input_;
  std::size_t written_ = 0;  // of it
  std::size_t output_bytes_max_;
  std::string chunk_;
  Result result_;
  std::function<void(Result)> done_;
  // A handler may still be queued when this is gone.
  std::shared_ptr<void> alive_ = std::make_shared<char>();
};

}  // namespace canopy::tools
