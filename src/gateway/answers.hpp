// Answers of all protocols, from results and failures. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "gateway/failure.hpp"
#include "gateway/http_request.hpp"
#include "gateway/queue_url.hpp"
#include "queue/actions.hpp"

namespace canopy::gateway {

// query_json: the query protocol where JSON was asked for. peek_json: as emulators
// answer a look at a queue.
enum class Protocol : std::uint8_t { json, query, query_json, peek_json };

inline constexpr std::string_view plain_json_type = "application/json";

// The namespaces of the two services' answers in XML.
inline constexpr std::string_view sqs_namespace = "http://queue.amazonaws.com/doc/2012-11-05/";
inline constexpr std::string_view sts_namespace = "https://sts.amazonaws.com/doc/2011-06-15/";

Answer write_result(Protocol protocol, std::string_view action, const queue::Result& result,
                    const Place& place, std::string request_id);

Answer write_failure(Protocol protocol, const Failure& failure, std::string request_id);

// <?xml?><ACTIONResponse><ACTIONResult>members</...>; no result if `members` is
// empty and `has_result` is not set.
std::string wrap_in_xml(std::string_view action, std::string_view xml_namespace,
                        std::string_view members, bool has_result, std::string_view request_id);

}  // namespace canopy::gateway
