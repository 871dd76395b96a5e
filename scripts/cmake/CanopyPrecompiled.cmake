# Headers that take half of a compilation to parse, precompiled once for many targets. Nothing of
# the project's own is among them: a header must compile without (scripts/check-headers).

set(CANOPY_STD_HEADERS
  <algorithm> <chrono> <deque> <functional> <map> <memory> <optional> <set> <sstream> <string>
  <unordered_map> <variant> <vector> <fmt/format.h>)
set(CANOPY_ASIO_HEADERS
  ${CANOPY_STD_HEADERS} <boost/asio/cancellation_signal.hpp> <boost/asio/io_context.hpp>
  <boost/asio/ip/tcp.hpp> <boost/asio/post.hpp> <boost/asio/steady_timer.hpp>)

# canopy_reuse_precompiled(<owner> <target>...): those of the targets that exist use the owner's.
function(canopy_reuse_precompiled owner)
  canopy_existing(users ${ARGN})
  foreach(user IN LISTS users)
    target_precompile_headers(${user} REUSE_FROM ${owner})
  endforeach()
endfunction()
