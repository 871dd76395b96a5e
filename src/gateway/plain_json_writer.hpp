// Writes the members of XML answers as JSON, element by element: an element that
// comes once is a value, one that repeats an array. So did AWS's older JSON, and
// emulators where people look at queues with a browser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gateway/json_writer.hpp"
#include "gateway/member_name.hpp"

namespace canopy::gateway {

class PlainJsonWriter {
 public:
  explicit PlainJsonWriter(std::string& out) : out_(out) { out_ += '{'; }
  PlainJsonWriter(const PlainJsonWriter&) = delete;
  PlainJsonWriter& operator=(const PlainJsonWriter&) = delete;
  ~PlainJsonWriter() { out_ += '}'; }

  void text(std::string_view name, std::string_view value) {
    begin(name);
    append_json_string(out_, value);
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
    elements(name, texts, [this](const auto& text) { append_json_string(out_, text); });
  }

  template <class Map>
  void text_map(MemberName name, const Map& map, std::string_view key_name = "Name") {
    structures(name, map, [key_name](PlainJsonWriter& writer, const auto& entry) {
      writer.text(key_name, entry.first);
      writer.text("Value", entry.second);
    });
  }

  template <class List, class Write>
  void structures(MemberName name, const List& list, Write write) {
    elements(name, list, [&](const auto& element) {
      PlainJsonWriter writer(out_);
      write(writer, element);
    });
  }

  template <class Map, class Write>
  void named_structures(MemberName name, const Map& map, Write write) {
    structures(name, map, [&](PlainJsonWriter& writer, const auto& entry) {
      writer.text("Name", entry.first);
      writer.begin("Value");
      PlainJsonWriter value(out_);
      write(value, entry.second);
    });
  }

 private:
  void begin(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    append_json_string(out_, name);
    out_ += ':';
  }

  template <class List, class Write>
  void elements(MemberName name, const List& list, Write write) {
    if (list.empty()) return;
    begin(name.query);
    if (list.size() > 1) out_ += '[';
    bool first = true;
    for (const auto& element : list) {
      if (!first) out_ += ',';
      first = false;
      write(element);
    }
    if (list.size() > 1) out_ += ']';
  }

  std::string& out_;
  bool first_ = true;
};

}  // namespace canopy::gateway
