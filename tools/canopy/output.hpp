// Standard output: written through at once, so that what reads it down a pipe
// sees every message when it comes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "canopy/failure.hpp"
#include "common/escaped.hpp"

namespace canopy::tools {

// Nobody reads standard output any more: the program ends quietly.
class OutputClosed {};

// Throws OutputClosed, or Failure when it cannot be written (disk full).
void print(std::string_view text);
void print_line(std::string_view line);
void print_json(const boost::json::object& object);

// On standard error, after the program's name, made fit for a terminal.
void complain(std::string_view text);

// A failure, and with --json an object {"error": {"code": C, "message": TEXT}} on
// standard output as well; C, a number or AWS's name, only if a daemon gave it.
void complain(const Failure& failure, bool json);

// Rows of cells as text, each column as wide as its widest cell. The first row
// is the heading.
std::string table(const std::vector<std::vector<std::string>>& rows);

// object[key] = the text, or object[key + "_base64"] where it is no UTF-8.
void put_bytes(boost::json::object& object, std::string_view key, std::string_view bytes);

}  // namespace canopy::tools
