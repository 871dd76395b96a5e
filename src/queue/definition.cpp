#include "queue/definition.hpp"

#include "queue/bytes.hpp"

namespace canopy::queue {

namespace {

constexpr std::uint8_t definition_version = 1;

void write_map(ByteWriter& out, const std::map<std::string, std::string>& values) {
  out.varint(values.size());
  for (const auto& [name, value] : values) {
    out.text(name);
    out.text(value);
  }
}

std::map<std::string, std::string> read_map(ByteReader& in) {
  std::map<std::string, std::string> values;
  for (std::size_t left = in.count(); left > 0 && in.ok(); --left) {
    std::string name(in.text());
    values.emplace_hint(values.end(), std::move(name), std::string(in.text()));
  }
  return values;
}

}  // namespace

std::string encode(const Definition& definition) {
  ByteWriter out;
  out.u8(definition_version);
  out.varint(definition.number);
  out.text(definition.name.region);
  out.text(definition.name.account);
  out.text(definition.name.name);
  out.zigzag(definition.created);
  out.zigzag(definition.modified);
  write_map(out, definition.attributes);
  write_map(out, definition.tags);
  if (definition.scope_changed != 0) out.zigzag(definition.scope_changed);
  return out.take();
}

std::optional<Definition> decode_definition(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.u8() != definition_version) return std::nullopt;
  Definition definition;
  definition.number = in.varint();
  definition.name.region = in.text();
  definition.name.account = in.text();
  definition.name.name = in.text();
  definition.created = in.zigzag();
  definition.modified = in.zigzag();
  definition.attributes = read_map(in);
  definition.tags = read_map(in);
  if (in.ok() && !in.finished()) definition.scope_changed = in.zigzag();
  return in.finished() ? std::optional(std::move(definition)) : std::nullopt;
}

}  // namespace canopy::queue
