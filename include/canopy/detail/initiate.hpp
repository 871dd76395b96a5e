// Implementation of the async_ functions: erases the completion handler's type,
// so that their bodies are compiled once, in the library. Not for users.
#pragma once

#include <functional>
#include <utility>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

namespace canopy::detail {

template <class... Results>
using Completion = boost::asio::any_completion_handler<void(boost::system::error_code, Results...)>;

// Calls start(object, arguments..., completion) when the token wants the
// operation to start: at once, or later (boost::asio::deferred), when whatever
// `object` refers to may be gone.
template <class... Results, class Token, class Start, class Object, class... Arguments>
auto initiate(Token&& token, Start start, Object object, Arguments... arguments) {
  return boost::asio::async_initiate<Token, void(boost::system::error_code, Results...)>(
      [start, object = std::move(object)](auto handler, Arguments... values) {
        std::invoke(start, object, std::move(values)...,
                    Completion<Results...>(std::move(handler)));
      },
      token, std::move(arguments)...);
}

}  // namespace canopy::detail
