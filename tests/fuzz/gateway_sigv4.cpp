// Signatures, true and false, in headers and in the query: lines of the method,
// the target, and fields; the rest is the body.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/assert.hpp"
#include "gateway/authenticator.hpp"

using namespace canopy::gateway;

namespace {

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

Request request_of(std::string_view text) {
  Request request;
  request.method = take_line(text);
  request.target = take_line(text);
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty()) break;
    const std::size_t colon = std::min(line.find(':'), line.size());
    request.fields.push_back(
        {line.substr(0, colon), line.substr(std::min(colon + 1, line.size()))});
  }
  request.body = text;
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Request request = request_of({reinterpret_cast<const char*>(data), size});
  constexpr std::int64_t now = 1'440'938'160;  // 20150830T123600Z
  Credentials credentials;
  credentials.add("AKIDEXAMPLE", {"secret", "000000000000", {}});
  const auto shared = std::make_shared<const Credentials>(std::move(credentials));
  AccessRules rules;
  Authenticator strict(rules);
  rules.allow_anonymous = true;
  Authenticator open(rules);
  for (Authenticator* authenticator : {&strict, &open}) authenticator->set_credentials(shared);
  const auto known = strict.identify(request, now);
  const auto anyone = open.identify(request, now);
  // Whoever is known is the same where everybody is let in.
  CANOPY_ASSERT(known.has_error() || (anyone && anyone->caller.account == known->caller.account));
  const auto parsed = signature_of(request);
  if (!parsed.has_error() && *parsed) (void)canonical_request(request, **parsed);
  return 0;
}
