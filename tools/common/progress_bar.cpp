#include "common/progress_bar.hpp"

#include <cstdio>
#include <string>

#include <unistd.h>

namespace canopy::tools {

namespace {

constexpr std::size_t width = 40;
constexpr auto interval = std::chrono::milliseconds(100);

}  // namespace

ProgressBar::ProgressBar() : terminal_(isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::show(std::string_view what, double done) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (what == what_ && now < next_) return;
  what_ = what;
  next_ = now + interval;
  drawn_ = true;
  const auto filled = static_cast<std::size_t>(done * static_cast<double>(width));
  const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
  std::fprintf(stderr, "\r%-12.*s [%s] %3.0f %%\033[K", static_cast<int>(what.size()), what.data(),
               bar.c_str(), done * 100);
  std::fflush(stderr);
}

void ProgressBar::clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace canopy::tools
