// Writes one JSON object, member by member, at the end of a string.
//
// Texts are UTF-8. Empty lists and maps are left out, as AWS does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/base64.hpp"
#include "gateway/member_name.hpp"

namespace canopy::gateway {

// With its quotes.
void append_json_string(std::string& out, std::string_view text);

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) { out_ += '{'; }
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;
  ~JsonWriter() { out_ += '}'; }

  void text(std::string_view name, std::string_view value) {
    begin(name);
    append_json_string(out_, value);
  }
  void none(std::string_view) {}
  void empty_list(std::string_view name) {
    begin(name);
    out_ += "[]";
  }
  void number(std::string_view name, std::int64_t value) {
    begin(name);
    out_ += std::to_string(value);
  }
  void boolean(std::string_view name, bool value) {
    begin(name);
    out_ += value ? "true" : "false";
  }
  void blob(std::string_view name, std::string_view bytes) { text(name, to_base64(bytes)); }

  template <class Texts>
  void texts(MemberName name, const Texts& texts) {
    list(name.json, texts, '[', ']', [this](const auto& text) { append_json_string(out_, text); });
  }

  template <class Map>
  void text_map(MemberName name, const Map& map, std::string_view /*key_name*/ = {}) {
    list(name.json, map, '{', '}', [this](const auto& entry) {
      append_json_string(out_, entry.first);
      out_ += ':';
      append_json_string(out_, entry.second);
    });
  }

  // write(JsonWriter&, element)
  template <class List, class Write>
  void structures(MemberName name, const List& elements, Write write) {
    list(name.json, elements, '[', ']', [&](const auto& element) {
      JsonWriter writer(out_);
      write(writer, element);
    });
  }

  // write(JsonWriter&, value)
  template <class Map, class Write>
  void named_structures(MemberName name, const Map& map, Write write) {
    list(name.json, map, '{', '}', [&](const auto& entry) {
      append_json_string(out_, entry.first);
      out_ += ':';
      JsonWriter writer(out_);
      write(writer, entry.second);
    });
  }

 private:
  void begin(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += '"';
    out_ += name;
    out_ += "\":";
  }

  template <class List, class Write>
  void list(std::string_view name, const List& elements, char open, char close, Write write) {
    if (elements.empty()) return;
    begin(name);
    out_ += open;
    bool first = true;
    for (const auto& element : elements) {
      if (!first) out_ += ',';
      first = false;
      write(element);
    }
    out_ += close;
  }

  std::string& out_;
  bool first_ = true;
};

// One whole object: write(JsonWriter&). A writer closes its object when it goes
// out of scope, which is too late for a string that is returned.
template <class Write>
void append_json_object(std::string& out, Write write) {
  JsonWriter writer(out);
  write(writer);
}

}  // namespace canopy::gateway
