// Forms of the query protocol. The first byte chooses the action.
#include <cstdint>
#include <string_view>

#include "gateway/query_request.hpp"
#include "gateway_requests.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view form(reinterpret_cast<const char*>(data + 1), size - 1);
  canopy::gateway::QueryTree tree;
  if (!tree.add(form)) return 0;
  (void)canopy::gateway::read_query_request(canopy::fuzz::action_of(data[0]), tree,
                                            canopy::fuzz::read_context);
  return 0;
}
