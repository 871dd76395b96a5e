// A gateway over the service in memory, for tests from outside:
//   gateway_test_server [--port N] [--threads N] [--credentials FILE] [--anonymous]
//     [--certificate FILE --key FILE] [--connections N] [--arriving BYTES] [--seconds N]
// Prints its port. Reads a line from its input at the end of which it drains;
// the end of the input ends it.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "../fake_service.hpp"
#include "gateway/http_server.hpp"

int main(int count, char** arguments) try {
  using namespace canopy::gateway;
  HttpOptions http;
  FrontOptions front;
  Credentials credentials;
  http.listen = {"127.0.0.1", 0};
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    const auto value = [&] { return std::string(i + 1 < count ? arguments[++i] : ""); };
    if (name == "--port") http.listen.port = static_cast<std::uint16_t>(std::stoi(value()));
    if (name == "--threads") http.threads = static_cast<unsigned>(std::stoi(value()));
    if (name == "--anonymous") front.access.allow_anonymous = true;
    if (name == "--credentials") credentials = Credentials::load(value(), "000000000000");
    if (name == "--certificate") http.certificate_file = value();
    if (name == "--key") http.key_file = value();
    if (name == "--arriving") http.arriving_bytes_max = std::stoul(value());
    if (name == "--connections") http.connections_max = std::stoul(value());
    if (name == "--seconds")
      http.head_max = http.idle_max = http.transfer_max = std::chrono::seconds(std::stoi(value()));
  }
  FakeService service;
  HttpServer server(http, front, service);
  server.set_credentials(std::move(credentials));
  std::cout << server.endpoint().port << std::endl;
  std::string line;
  if (std::getline(std::cin, line)) {
    server.drain(std::chrono::seconds(5));
    std::cout << "drained " << server.counters().connections << std::endl;
    std::getline(std::cin, line);
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
