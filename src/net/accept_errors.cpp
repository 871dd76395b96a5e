#include "net/accept_errors.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/errc.hpp>

#include "net/clock.hpp"
#include "net/log.hpp"

namespace canopy::net {

void AcceptErrors::add(const boost::system::error_code& error, const std::string& where) {
  const MonoTime now = mono_now();
  if (count_++ > 0 && now - said_at_ < silence) return;
  said_at_ = now;
  const bool no_descriptors = error == boost::asio::error::no_descriptors ||
                              error == boost::system::errc::too_many_files_open_in_system;
  log::error("cannot accept connections at {}: {}{}", where, error.message(),
             no_descriptors ? ": raise the limit of open files (ulimit -n, or LimitNOFILE)" : "");
}

}  // namespace canopy::net
