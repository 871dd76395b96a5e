// Standard input, read while the event loop runs: whole, or line by line. One
// thread, the loop's.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "canopy/descriptor_watch.hpp"

namespace canopy::tools {

// Reads everything, blocking. Throws Failure beyond `bytes_max`.
std::string read_input(std::size_t bytes_max);

class LineReader {
 public:
  // `line` gets one line without its end after the other, as long as it
  // returns true; after false, resume() goes on. `end` comes last, after a last
  // line that may lack its end. Both may throw.
  LineReader(boost::asio::io_context& io, std::size_t line_bytes_max,
             std::function<bool(std::string_view line)> line, std::function<void()> end);

  void resume();

  // Whether all has been handed over. Looks, and waits for nothing.
  bool at_end();

 private:
  void wait();
  void read();
  bool hand_over_lines();

  boost::asio::io_context& io_;
  DescriptorWatch input_;
  bool pending_ = false;  // a wait, or a turn of the loop, is under way
  bool ended_ = false;
  bool told_end_ = false;
  std::size_t line_bytes_max_;
  std::size_t number_ = 1;  // of the next line
  std::string buffer_;
  std::size_t begin_ = 0;  // of what was not handed over
  std::function<bool(std::string_view)> line_;
  std::function<void()> end_;
};

}  // namespace canopy::tools
