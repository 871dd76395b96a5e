// The command lines of `canopy request` and `canopy reply`, taken apart.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/cli.hpp"
#include "wire/content.hpp"

namespace canopy::tools {

struct RequestCommand {
  std::string group;
  std::string text;           // "-": from standard input
  bool all = false;           // members; else one
  std::uint64_t replies = 0;  // that are wanted; 0: one, or of all as many as come
  wire::Headers headers;
  std::string token;
};

struct ReplyCommand {
  std::string group;
  std::optional<std::string> text;  // the reply to each request
  std::optional<std::string> exec;  // or a command that makes it
  std::uint64_t parallel = 1;       // requests at the same time
  std::uint64_t count = 0;          // replies, then it ends; 0: no end
  wire::Headers headers;
  std::string token;
};

// Declares what comes behind `request` and `reply`, and reads it once the words are
// taken apart. The command line must outlive it.
class RequestParser {
 public:
  RequestParser(cli::Command request, cli::Command reply);
  ~RequestParser();

  // Groups are not looked at. Throw UsageError.
  RequestCommand request() const;
  ReplyCommand reply() const;

 private:
  class Words;
  std::unique_ptr<Words> words_;
};

}  // namespace canopy::tools
