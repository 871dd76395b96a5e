// Requests of the query protocol: a form or a URL's query, with the action in
// the parameter Action.
#pragma once

#include <string_view>

#include "gateway/action_reader.hpp"
#include "gateway/json_request.hpp"
#include "gateway/query_tree.hpp"

namespace canopy::gateway {

// `action` is one of the queue service's. A list's elements are Name.1, Name.2;
// Name.member.1 and a single Name are read too.
ActionOrFailure read_query_request(std::string_view action, const QueryTree& parameters,
                                   const ReadContext& context);

}  // namespace canopy::gateway
