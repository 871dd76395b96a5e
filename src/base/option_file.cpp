#include "base/option_file.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace canopy {

namespace {

std::string text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  std::ostringstream out;
  node.visit([&out](const auto& value) { out << value; });
  return std::move(out).str();
}

class Reader {
 public:
  Reader(std::string_view file_name, OptionFile& out) : file_name_(file_name), out_(out) {}

  void read(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string name = prefix + std::string(key.str());
      if (const auto* inner = node.as_table()) {
        read(*inner, name + ".");
        continue;
      }
      OptionFileEntry entry{name, {}, node.is_array(), node.source().begin.line};
      if (const auto* array = node.as_array()) {
        read_array(*array, entry);
      } else {
        entry.values.push_back(text_of(node));
      }
      out_.entries.push_back(std::move(entry));
    }
  }

 private:
  void read_array(const toml::array& array, OptionFileEntry& entry) {
    for (const toml::node& element : array) {
      if (element.is_table() || element.is_array()) {
        out_.problems.push_back(fmt::format("{}:{}: {}: a list holds plain values only", file_name_,
                                            entry.line, entry.name));
        return;
      }
      entry.values.push_back(text_of(element));
    }
  }

  std::string_view file_name_;
  OptionFile& out_;
};

}  // namespace

OptionFile parse_option_file(std::string_view file_name, std::string_view text) {
  OptionFile file;
  try {
    const toml::table table = toml::parse(text, file_name);
    Reader(file_name, file).read(table, "");
  } catch (const toml::parse_error& error) {
    file.problems.push_back(fmt::format("{}:{}: not valid TOML: {}", file_name,
                                        error.source().begin.line, error.description()));
  }
  // toml++ keeps its tables sorted by key.
  std::stable_sort(file.entries.begin(), file.entries.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
  return file;
}

}  // namespace canopy
