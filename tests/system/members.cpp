#include "system/members.hpp"

#include <utility>

namespace canopy::system_test {

void Members::join(std::size_t daemon) {
  joins_[daemon] = cluster_[daemon].client().send(
      control::Join{{group_, ""}}, [this, daemon](const control::AnswerEnvelope& envelope) {
        if (std::holds_alternative<control::Joined>(envelope.answer)) ++joined_;
        const auto* message = std::get_if<control::Message>(&envelope.answer);
        if (!message) return;
        if (!received_[daemon].emplace(message->content.payload.view()).second) ++duplicates_;
        last_[daemon] = Clock::now();
      });
}

void Members::leave() {
  for (const auto& [daemon, request] : joins_) cluster_[daemon].client().cancel(request);
  joins_.clear();
}

void publish(Daemon& daemon, const std::string& group, const std::string& text,
             Client::OnAnswer done, wire::AckMode ack) {
  control::Publish request;
  request.group = {group, ""};
  request.ack = ack;
  request.content.payload = Buffer::copy_of(text);
  daemon.client().send(std::move(request), std::move(done));
}

}  // namespace canopy::system_test
