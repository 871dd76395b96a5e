#include "canopy-bench/sqs_answer.hpp"

#include <cstring>

namespace canopy::tools {

namespace {

// memmem is several times faster than string_view::find.
const char* find(const char* from, const char* end, std::string_view what) {
  return static_cast<const char*>(
      ::memmem(from, static_cast<std::size_t>(end - from), what.data(), what.size()));
}

const char* skip(const char* from, const char* end, char what) {
  while (from < end && (*from == ' ' || *from == '\n')) ++from;
  return from < end && *from == what ? from + 1 : nullptr;
}

const char* end_of_text(const char* from, const char* end) {
  for (; from < end && *from != '"'; ++from)
    if (*from == '\\') ++from;
  return from < end ? from : nullptr;
}

}  // namespace

unsigned count_members(std::string_view json, std::string_view name) {
  unsigned count = 0;
  const char* end = json.data() + json.size();
  for (const char* at = json.data(); (at = find(at, end, name)); at += name.size()) ++count;
  return count;
}

void find_texts(std::string_view json, std::string_view name,
                std::vector<std::string_view>& values) {
  values.clear();
  const char* end = json.data() + json.size();
  for (const char* at = json.data(); (at = find(at, end, name));) {
    at = skip(at + name.size(), end, ':');
    const char* start = at ? skip(at, end, '"') : nullptr;
    const char* stop = start ? end_of_text(start, end) : nullptr;
    if (!stop) return;
    values.emplace_back(start, static_cast<std::size_t>(stop - start));
    at = stop;
  }
}

}  // namespace canopy::tools
