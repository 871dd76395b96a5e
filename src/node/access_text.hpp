// Access lists between the public interface, the layers below and people; tokens
// from files. Plain functions.
#pragma once

#include <string>
#include <string_view>

#include <boost/system/result.hpp>

#include <canopy/access.hpp>

#include "scribe/access_control.hpp"
#include "wire/access.hpp"

namespace canopy::node {

wire::Grant to_wire(const Grant& grant);
Grant to_grant(const wire::Grant& grant);
wire::AccessRef to_wire(const AccessList& list);
AccessList to_access_list(const wire::AccessList& list);

// Null for an empty token.
scribe::TokenKey token_key(std::string_view token);

// A token, or what is wrong with it.
struct TokenText {
  std::string token;
  std::string problem;
};
TokenText read_token(const std::string& path);
TokenText token_of_variable(const std::string& name);

}  // namespace canopy::node
