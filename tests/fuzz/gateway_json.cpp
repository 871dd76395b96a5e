// Bodies of AWS JSON requests. The first byte chooses the action.
#include <cstdint>
#include <string_view>

#include "gateway/json_request.hpp"
#include "gateway_requests.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data + 1), size - 1);
  (void)canopy::gateway::read_json_request(canopy::fuzz::action_of(data[0]), body,
                                           canopy::fuzz::read_context);
  return 0;
}
