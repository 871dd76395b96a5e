// Writes XML elements at the end of a string, in the shapes of the query
// protocol: a list is its elements in a row, a map such elements of Name and
// Value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/base64.hpp"
#include "gateway/member_name.hpp"

namespace canopy::gateway {

// The text as the content of an element. A carriage return would be lost on the
// way if it were not written as a reference. What no XML document can carry
// becomes U+FFFD: queues refuse it in what they keep.
void append_xml_text(std::string& out, std::string_view text);

class XmlWriter {
 public:
  explicit XmlWriter(std::string& out) : out_(out) {}

  void text(std::string_view name, std::string_view value) {
    open(name);
    append_xml_text(out_, value);
    close(name);
  }
  void none(std::string_view) {}
  void empty_list(std::string_view) {}
  void number(std::string_view name, std::int64_t value) { text(name, std::to_string(value)); }
  void boolean(std::string_view name, bool value) { text(name, value ? "true" : "false"); }
  void blob(std::string_view name, std::string_view bytes) { text(name, to_base64(bytes)); }

  template <class Texts>
  void texts(MemberName name, const Texts& texts) {
    for (const auto& value : texts) text(name.query, value);
  }

  template <class Map>
  void text_map(MemberName name, const Map& map, std::string_view key_name = "Name") {
    for (const auto& [key, value] : map) {
      open(name.query);
      text(key_name, key);
      text("Value", value);
      close(name.query);
    }
  }

  // write(XmlWriter&, element)
  template <class List, class Write>
  void structures(MemberName name, const List& elements, Write write) {
    for (const auto& element : elements) {
      open(name.query);
      write(*this, element);
      close(name.query);
    }
  }

  // write(XmlWriter&, value)
  template <class Map, class Write>
  void named_structures(MemberName name, const Map& map, Write write) {
    for (const auto& [key, value] : map) {
      open(name.query);
      text("Name", key);
      open("Value");
      write(*this, value);
      close("Value");
      close(name.query);
    }
  }

  void open(std::string_view name) {
    out_ += '<';
    out_ += name;
    out_ += '>';
  }
  void close(std::string_view name) {
    out_ += "</";
    out_ += name;
    out_ += '>';
  }

 private:
  std::string& out_;
};

}  // namespace canopy::gateway
