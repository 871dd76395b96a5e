#include "net/local_socket.hpp"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <unistd.h>

namespace canopy::net {

namespace asio = boost::asio;
using boost::system::error_code;
using Local = asio::local::stream_protocol;

namespace {

constexpr mode_t owner_only = 0600;
constexpr std::size_t path_bytes_max = sizeof(sockaddr_un::sun_path) - 1;

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw ListenError(fmt::format("control socket {}: {}", path, why));
}

bool path_fits(const std::string& path) { return !path.empty() && path.size() <= path_bytes_max; }

std::string too_long_text() {
  return fmt::format("a socket path has 1 to {} bytes: choose another with --control",
                     path_bytes_max);
}

// Makes room for a new socket file: removes one that nobody answers on.
void remove_stale(asio::io_context& io, const std::string& path) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) != 0) {
    if (errno != ENOENT) refuse(path, std::strerror(errno));
    return;
  }
  if (!S_ISSOCK(file.st_mode))
    refuse(path, "the file exists and is no socket: choose another with --control");
  Local::socket probe(io, Local());
  probe.non_blocking(true);
  error_code error;
  probe.connect(Local::endpoint(path), error);
  if (error == asio::error::connection_refused) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) refuse(path, std::strerror(errno));
    return;
  }
  if (error == asio::error::access_denied)
    refuse(path, "belongs to another user: choose another with --control");
  // Connected, or its queue of callers is full.
  refuse(path, "another daemon answers on it: stop that one or choose another with --control");
}

// The file's mode keeps other users out already; this holds even where somebody
// has changed the mode. root may do anything anyway.
bool belongs_to_us(Local::socket& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return false;
  return peer.uid == ::geteuid() || peer.uid == 0;
}

}  // namespace

LocalListener::LocalListener(asio::io_context& io, std::string path, Accepted accepted,
                             LocalListenerOptions options)
    : path_(std::move(path)),
      accepted_(std::move(accepted)),
      options_(options),
      loop_(
          open(io), [this](Local::socket socket) { accept(std::move(socket)); },
          [this](const error_code& error) { accept_errors_.add(error, path_); }) {}

LocalListener::~LocalListener() {
  struct stat file {};
  if (::lstat(path_.c_str(), &file) == 0 && file.st_dev == file_device_ &&
      file.st_ino == file_inode_)
    ::unlink(path_.c_str());
}

Local::acceptor LocalListener::open(asio::io_context& io) {
  if (!path_fits(path_)) refuse(path_, too_long_text());
  remove_stale(io, path_);
  Local::acceptor acceptor(io, Local());
  // The mode of the descriptor becomes that of the file, so that there is no
  // moment at which others could connect, and no process-wide umask to change.
  error_code error;
  if (::fchmod(acceptor.native_handle(), owner_only) != 0) refuse(path_, std::strerror(errno));
  acceptor.bind(Local::endpoint(path_), error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) refuse(path_, error.message());
  struct stat file {};
  if (::lstat(path_.c_str(), &file) == 0) {
    file_device_ = file.st_dev;
    file_inode_ = file.st_ino;
  }
  return acceptor;
}

void LocalListener::accept(Local::socket socket) {
  std::erase_if(channels_, [](const auto& weak) {
    const auto channel = weak.lock();
    return !channel || !channel->is_open();
  });
  if (channels_.size() >= options_.channels_max || !belongs_to_us(socket)) {
    ++refused_;
    return;
  }
  auto channel = std::make_shared<FrameChannel>(std::move(socket), pool_, options_.channel);
  channels_.push_back(channel);
  accepted_(std::move(channel));
}

namespace {

// One attempt to connect, with its time limit. Keeps itself alive.
class LocalConnect : public std::enable_shared_from_this<LocalConnect> {
 public:
  LocalConnect(asio::io_context& io, std::string path, LocalConnected connected,
               ChannelOptions options)
      : socket_(io),
        deadline_(io),
        retry_(io),
        path_(std::move(path)),
        connected_(std::move(connected)),
        options_(options) {}

  void start(Duration time_max) {
    if (!path_fits(path_)) {
      asio::post(socket_.get_executor(), [self = shared_from_this()] {
        self->done(asio::error::name_too_long, too_long_text());
      });
      return;
    }
    deadline_.expires_after(time_max);
    deadline_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->done(asio::error::timed_out, "the daemon does not answer");
    });
    connect();
  }

 private:
  void connect() {
    socket_.async_connect(Local::endpoint(path_), [self = shared_from_this()](error_code error) {
      // The daemon's queue of callers is full: it works them off.
      if (error == asio::error::try_again)
        self->connect_later();
      else
        self->done(error, text_of(error));
    });
  }

  void connect_later() {
    error_code ignored;
    socket_.close(ignored);
    retry_.expires_after(std::chrono::milliseconds(20));
    retry_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->connect();
    });
  }

  static std::string text_of(const error_code& error) {
    if (error == boost::system::errc::no_such_file_or_directory ||
        error == asio::error::connection_refused)
      return "no daemon runs there: start canopyd, or say with --control where its socket is";
    if (error == asio::error::access_denied) return "that daemon belongs to another user";
    return error.message();
  }

  void done(const error_code& error, const std::string& why) {
    if (!connected_) return;
    deadline_.cancel();
    retry_.cancel();
    const auto connected = std::exchange(connected_, nullptr);
    if (error) {
      error_code ignored;
      socket_.close(ignored);
      return connected(error, fmt::format("control socket {}: {}", path_, why), nullptr);
    }
    connected(error, {},
              std::make_shared<FrameChannel>(std::move(socket_), std::make_shared<StreamPool>(),
                                             options_));
  }

  Local::socket socket_;
  asio::steady_timer deadline_;
  asio::steady_timer retry_;
  std::string path_;
  LocalConnected connected_;
  ChannelOptions options_;
};

}  // namespace

void connect_local(asio::io_context& io, const std::string& path, Duration time_max,
                   LocalConnected connected, ChannelOptions options) {
  std::make_shared<LocalConnect>(io, path, std::move(connected), options)->start(time_max);
}

}  // namespace canopy::net
