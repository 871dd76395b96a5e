#include "node/daemon_log.hpp"

#include <memory>
#include <string>
#include <utility>

#include <spdlog/async.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace canopy::node {
namespace {

constexpr std::size_t waiting_lines_max = 1024;

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::trace: return spdlog::level::trace;
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

// The text between quotes; quotes, backslashes and control characters escaped, so that what others
// send can neither forge a line nor hide one.
class QuotedText final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    for (const char c : message.payload) {
      if (c == '"' || c == '\\') {
        out.push_back('\\');
        out.push_back(c);
      } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
      } else {
        out.push_back(c);
      }
    }
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<QuotedText>();
  }
};

// Says how many lines the queue in front of it has dropped, before the next line that it writes.
class CountingSink final : public spdlog::sinks::stderr_sink_mt {
 public:
  // The pool joins its thread, which writes here, before it goes. Asking spdlog for it each time
  // would wait for ever at the end: spdlog::shutdown() holds that lock while it joins.
  explicit CountingSink(spdlog::details::thread_pool& pool) : pool_(pool) {}

  void log(const spdlog::details::log_msg& message) override {
    const std::size_t dropped = pool_.overrun_counter();
    if (const std::size_t fresh = dropped - std::exchange(told_, dropped)) {
      const std::string text = fmt::format("{} lines were left out before this one", fresh);
      spdlog::details::log_msg notice(message.logger_name, spdlog::level::warn, text);
      spdlog::sinks::stderr_sink_mt::log(notice);
    }
    spdlog::sinks::stderr_sink_mt::log(message);
  }

 private:
  spdlog::details::thread_pool& pool_;
  std::size_t told_ = 0;  // only the writer's thread logs
};

}  // namespace

DaemonLog::DaemonLog(LogLevel level) {
  spdlog::init_thread_pool(waiting_lines_max, 1);
  auto logger = std::make_shared<spdlog::async_logger>(
      "canopyd", std::make_shared<CountingSink>(*spdlog::thread_pool()), spdlog::thread_pool(),
      spdlog::async_overflow_policy::overrun_oldest);
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<QuotedText>('*').set_pattern(
      "time=%Y-%m-%dT%H:%M:%S.%e%z level=%l msg=\"%*\"");
  logger->set_formatter(std::move(formatter));
  logger->set_level(to_spdlog(level));
  spdlog::set_default_logger(std::move(logger));
}

DaemonLog::~DaemonLog() { spdlog::shutdown(); }

}  // namespace canopy::node
