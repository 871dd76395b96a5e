// Texts on their way into answers: XML has to stay well-formed, and what XML can
// carry has to come back; JSON has to bring back every text.
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/parse.hpp>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "gateway/json_writer.hpp"
#include "gateway/xml_writer.hpp"

namespace {

// Content as an XML parser reads it: with its references resolved, and line ends
// made one.
std::string read_back(std::string_view xml) {
  struct Reference {
    std::string_view name;
    char character;
  };
  constexpr Reference references[] = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#xd;", '\r'}};
  std::string text;
  while (!xml.empty()) {
    CANOPY_ASSERT(xml[0] != '<' && xml[0] != '>' && xml[0] != '\r');
    std::size_t used = 0;
    for (const Reference& reference : references) {
      if (!xml.starts_with(reference.name)) continue;
      text += reference.character;
      used = reference.name.size();
    }
    CANOPY_ASSERT(used > 0 || xml[0] != '&');
    if (used == 0) text += xml[0];
    xml.remove_prefix(used == 0 ? 1 : used);
  }
  return text;
}

bool fits_xml(std::string_view text) {
  if (!canopy::is_utf8(text)) return false;
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') return false;
  return text.find("\xEF\xBF\xBE") == text.npos && text.find("\xEF\xBF\xBF") == text.npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string xml, json;
  canopy::gateway::append_xml_text(xml, text);
  CANOPY_ASSERT(canopy::is_utf8(xml));
  const std::string back = read_back(xml);
  CANOPY_ASSERT(!fits_xml(text) || back == text);
  if (canopy::is_utf8(text)) {
    canopy::gateway::append_json_string(json, text);
    CANOPY_ASSERT(boost::json::parse(json).as_string() == text);
  }
  return 0;
}
