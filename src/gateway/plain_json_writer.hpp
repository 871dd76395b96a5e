// Writes the members of XML answers as JSON, with maps as lists of Name and Value:
// in AWS's way, which the query protocol answers where JSON was asked for, or element
// by element, as emulators do where people look at queues with a browser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gateway/json_writer.hpp"
#include "gateway/member_name.hpp"

namespace canopy::gateway {

class PlainJsonWriter {
 public:
  enum class Style : std::uint8_t {
    aws,      // lists are arrays under their own names; what is not there is null
    elements  // an element that comes once is a value, one that repeats an array
  };

  PlainJsonWriter(std::string& out, Style style) : out_(out), style_(style) { out_ += '{'; }
  PlainJsonWriter(const PlainJsonWriter&) = delete;
  PlainJsonWriter& operator=(const PlainJsonWriter&) = delete;
  ~PlainJsonWriter() { out_ += '}'; }

  void text(std::string_view name, std::string_view value) {
    begin(name);
    append_json_string(out_, value);
  }
  void none(std::string_view name) {
    if (style_ != Style::aws) return;
    begin(name);
    out_ += "null";
  }
  void empty_list(std::string_view) {}
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
      PlainJsonWriter writer(out_, style_);
      write(writer, element);
    });
  }

  template <class Map, class Write>
  void named_structures(MemberName name, const Map& map, Write write) {
    structures(name, map, [&](PlainJsonWriter& writer, const auto& entry) {
      writer.text("Name", entry.first);
      writer.begin("Value");
      PlainJsonWriter value(out_, writer.style_);
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

  // Which AWS spells otherwise here.
  static std::string_view list_name(std::string_view name) {
    if (name == "Messages") return "messages";
    return name == "QueueUrls" ? "queueUrls" : name;
  }

  template <class List, class Write>
  void elements(MemberName name, const List& list, Write write) {
    const bool aws = style_ == Style::aws;
    const std::string_view written = aws ? list_name(name.json) : name.query;
    if (list.empty()) return none(written);
    begin(written);
    const bool array = aws || list.size() > 1;
    if (array) out_ += '[';
    bool first = true;
    for (const auto& element : list) {
      if (!first) out_ += ',';
      first = false;
      write(element);
    }
    if (array) out_ += ']';
  }

  std::string& out_;
  Style style_;
  bool first_ = true;
};

}  // namespace canopy::gateway
