#include "fake_service.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/text.hpp"

namespace canopy::gateway {

namespace {

std::string md5(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_md5(), nullptr);
  return to_hex({reinterpret_cast<const char*>(digest), size});
}

void append_sized(std::string& out, std::string_view text) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(text.size() >> shift);
  out += text;
}

std::string md5(const queue::MessageAttributes& attributes) {
  if (attributes.empty()) return {};
  std::string bytes;
  for (const auto& [name, attribute] : attributes) {
    append_sized(bytes, name);
    append_sized(bytes, attribute.type);
    bytes += attribute.binary ? '\2' : '\1';
    append_sized(bytes, attribute.value);
  }
  return md5(bytes);
}

queue::Error no_such_queue() {
  return {queue::ErrorCode::queue_does_not_exist, "The specified queue does not exist."};
}

}  // namespace

// One overload an action. The service's mutex is held.
struct FakeService::Handler {
  FakeService& service;
  Clock::time_point now;

  Queue* find(const queue::QueueName& name) {
    const auto found = service.queues_.find(name);
    return found == service.queues_.end() ? nullptr : &found->second;
  }

  template <class Use>
  queue::Outcome on(const queue::QueueName& name, Use use) {
    Queue* queue = find(name);
    if (!queue) return no_such_queue();
    return use(*queue);
  }

  queue::Sent send(Queue& queue, const queue::SendEntry& entry) {
    queue::Message message;
    message.message_id = fmt::format("00000000-0000-4000-8000-{:012}", ++service.last_id_);
    message.body = entry.body;
    message.body_md5 = md5(entry.body.view());
    message.message_attributes = entry.attributes;
    message.attributes_md5 = md5(entry.attributes);
    if (entry.group_id) message.attributes["MessageGroupId"] = *entry.group_id;
    if (entry.trace_header) message.attributes["AWSTraceHeader"] = *entry.trace_header;
    queue.messages.push_back(
        {message, now + std::chrono::seconds(entry.delay_seconds.value_or(0))});
    return {entry.id, message.message_id, message.body_md5, message.attributes_md5, {}, {}};
  }

  // Handles have a '+' and a '/', as base64 has.
  Stored* stored(Queue& queue, const std::string& handle) {
    const auto found = std::find_if(queue.messages.begin(), queue.messages.end(),
                                    [&](auto& s) { return s.message.receipt_handle == handle; });
    return found == queue.messages.end() ? nullptr : &*found;
  }

  bool remove(Queue& queue, const std::string& handle) {
    return std::erase_if(queue.messages,
                         [&](auto& s) { return s.message.receipt_handle == handle; }) > 0;
  }

  queue::Error bad_handle(const std::string& handle) {
    return {queue::ErrorCode::receipt_handle_is_invalid,
            fmt::format("The input receipt handle \"{}\" is not a valid receipt handle.", handle)};
  }

  queue::Outcome operator()(const queue::CreateQueue& action) {
    Queue& queue = service.queues_[action.queue];
    queue.attributes = action.attributes;
    queue.tags = action.tags;
    return queue::CreateQueueResult{action.queue};
  }
  queue::Outcome operator()(const queue::DeleteQueue& action) {
    return service.queues_.erase(action.queue) ? queue::Outcome(queue::Done{}) : no_such_queue();
  }
  queue::Outcome operator()(const queue::GetQueueUrl& action) {
    return on(action.queue, [&](Queue&) { return queue::GetQueueUrlResult{action.queue}; });
  }
  queue::Outcome operator()(const queue::ListQueues& action) {
    queue::ListQueuesResult result;
    for (const auto& [name, queue] : service.queues_)
      if (name.region == action.region && name.account == action.account &&
          name.name.starts_with(action.prefix))
        result.queues.push_back(name);
    return result;
  }
  queue::Outcome operator()(const queue::GetQueueAttributes& action) {
    return on(action.queue,
              [](Queue& queue) { return queue::GetQueueAttributesResult{queue.attributes}; });
  }
  queue::Outcome operator()(const queue::SetQueueAttributes& action) {
    return on(action.queue, [&](Queue& queue) {
      for (const auto& [name, value] : action.attributes) queue.attributes[name] = value;
      return queue::Done{};
    });
  }
  queue::Outcome operator()(const queue::PurgeQueue& action) {
    return on(action.queue, [](Queue& queue) {
      queue.messages.clear();
      return queue::Done{};
    });
  }
  queue::Outcome operator()(const queue::TagQueue& action) {
    return on(action.queue, [&](Queue& queue) {
      for (const auto& [key, value] : action.tags) queue.tags[key] = value;
      return queue::Done{};
    });
  }
  queue::Outcome operator()(const queue::UntagQueue& action) {
    return on(action.queue, [&](Queue& queue) {
      for (const auto& key : action.keys) queue.tags.erase(key);
      return queue::Done{};
    });
  }
  queue::Outcome operator()(const queue::ListQueueTags& action) {
    return on(action.queue, [](Queue& queue) { return queue::ListQueueTagsResult{queue.tags}; });
  }
  queue::Outcome operator()(const queue::AddPermission& action) {
    return on(action.queue, [](Queue&) { return queue::Done{}; });
  }
  queue::Outcome operator()(const queue::RemovePermission& action) {
    return on(action.queue, [](Queue&) { return queue::Done{}; });
  }
  queue::Outcome operator()(const queue::SendMessage& action) {
    return on(action.queue, [&](Queue& queue) { return send(queue, action.entry); });
  }
  queue::Outcome operator()(const queue::SendMessageBatch& action) {
    return on(action.queue, [&](Queue& queue) {
      queue::SendMessageBatchResult result;
      for (const auto& entry : action.entries) {
        if (entry.body.view() == "refuse me")
          result.failed.push_back(
              {entry.id, {queue::ErrorCode::invalid_message_contents, "Refused."}});
        else
          result.successful.push_back(send(queue, entry));
      }
      return result;
    });
  }
  queue::Outcome operator()(const queue::ReceiveMessage& action) {
    return on(action.queue, [&](Queue&) { return service.take(action, now); });
  }
  queue::Outcome operator()(const queue::PeekMessage& action) {
    return on(action.queue, [&](Queue& queue) {
      queue::ReceiveMessageResult result;
      for (const Stored& stored : queue.messages) result.messages.push_back(stored.message);
      return result;
    });
  }
  queue::Outcome operator()(const queue::DeleteMessage& action) {
    return on(action.queue, [&](Queue& queue) -> queue::Outcome {
      if (!remove(queue, action.receipt_handle)) return bad_handle(action.receipt_handle);
      return queue::Done{};
    });
  }
  queue::Outcome operator()(const queue::DeleteMessageBatch& action) {
    return on(action.queue, [&](Queue& queue) {
      queue::BatchResult result;
      for (const auto& entry : action.entries) {
        if (remove(queue, entry.receipt_handle))
          result.successful.push_back(entry.id);
        else
          result.failed.push_back({entry.id, bad_handle(entry.receipt_handle)});
      }
      return result;
    });
  }
  queue::Outcome operator()(const queue::ChangeMessageVisibility& action) {
    return on(action.queue, [&](Queue& queue) -> queue::Outcome {
      Stored* found = stored(queue, action.receipt_handle);
      if (!found) return bad_handle(action.receipt_handle);
      found->visible_at = now + std::chrono::seconds(action.visibility_timeout);
      return queue::Done{};
    });
  }
  queue::Outcome operator()(const queue::ChangeMessageVisibilityBatch& action) {
    return on(action.queue, [&](Queue& queue) {
      queue::BatchResult result;
      for (const auto& entry : action.entries) {
        if (Stored* found = stored(queue, entry.receipt_handle)) {
          found->visible_at = now + std::chrono::seconds(entry.visibility_timeout.value_or(0));
          result.successful.push_back(entry.id);
        } else {
          result.failed.push_back({entry.id, bad_handle(entry.receipt_handle)});
        }
      }
      return result;
    });
  }
  queue::Outcome operator()(const queue::ListDeadLetterSourceQueues& action) {
    return on(action.queue, [&](Queue&) { return queue::ListQueuesResult{{action.queue}, {}}; });
  }
  queue::Outcome operator()(const queue::StartMessageMoveTask&) {
    return queue::StartMessageMoveTaskResult{"task+1"};
  }
  queue::Outcome operator()(const queue::CancelMessageMoveTask&) {
    return queue::CancelMessageMoveTaskResult{7};
  }
  queue::Outcome operator()(const queue::ListMessageMoveTasks& action) {
    queue::MessageMoveTask task;
    task.status = "COMPLETED";
    task.source_arn = action.source_arn;
    task.moved = 3;
    task.to_move = 3;
    task.started_ms = 1'700'000'000'000;
    return queue::ListMessageMoveTasksResult{{task}};
  }
  // No request asks for bridges.
  queue::Outcome operator()(const queue::AddBridge&) { return queue::Done{}; }
  queue::Outcome operator()(const queue::RemoveBridge&) { return queue::Done{}; }
  queue::Outcome operator()(const queue::ListBridges&) { return queue::Done{}; }
  queue::Outcome operator()(const queue::SendMulticasts&) { return queue::Done{}; }
};

FakeService::FakeService() : thread_([this] { run(); }) {}

FakeService::~FakeService() {
  {
    const std::lock_guard lock(incoming_mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void FakeService::call(queue::Caller caller, queue::Action action, std::shared_ptr<Call> call) {
  bool first = false;
  {
    const std::lock_guard lock(incoming_mutex_);
    first = incoming_.empty();
    incoming_.push_back({std::move(caller), std::move(action), std::move(call), {}});
  }
  if (first) wake_.notify_one();
}

void FakeService::cancelled(const std::shared_ptr<Call>& call) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const Request& request) { return request.call == call; });
}

void FakeService::give_back(queue::QueueName name, std::vector<std::string> receipt_handles) {
  const std::lock_guard lock(mutex_);
  for (Stored& stored : queues_.at(name).messages)
    if (std::ranges::count(receipt_handles, stored.message.receipt_handle) > 0)
      stored.visible_at = Clock::now();
}

std::string FakeService::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void FakeService::set_problem(std::string problem) {
  const std::lock_guard lock(mutex_);
  problem_ = std::move(problem);
}

std::size_t FakeService::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

std::size_t FakeService::visible(const std::string& queue_name) const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [name, queue] : queues_)
    if (name.name == queue_name)
      for (const Stored& stored : queue.messages) count += stored.visible_at <= Clock::now();
  return count;
}

void FakeService::run() {
  std::vector<Request> batch;
  bool waits = false;
  while (true) {
    {
      std::unique_lock lock(incoming_mutex_);
      const auto due = [this] { return stopping_ || !incoming_.empty(); };
      if (waits)
        wake_.wait_for(lock, std::chrono::milliseconds(10), due);
      else
        wake_.wait(lock, due);
      if (stopping_) return;
      batch.swap(incoming_);
    }
    const auto now = Clock::now();
    const std::lock_guard lock(mutex_);
    for (Request& request : batch) handle(request, now);
    batch.clear();
    serve_waiting(now);
    waits = !waiting_.empty();
  }
}

void FakeService::handle(Request& request, Clock::time_point now) {
  queue::Outcome outcome = std::visit(Handler{*this, now}, request.action);
  const auto* receive = std::get_if<queue::ReceiveMessage>(&request.action);
  if (receive && !outcome.has_error() && receive->wait_time_seconds.value_or(0) > 0 &&
      std::get<queue::ReceiveMessageResult>(*outcome).messages.empty()) {
    request.until = now + std::chrono::seconds(*receive->wait_time_seconds);
    waiting_.push_back(std::move(request));
  } else {
    request.call->done(std::move(outcome));
  }
}

void FakeService::serve_waiting(Clock::time_point now) {
  std::erase_if(waiting_, [&](Request& request) {
    if (request.call->cancelled()) return true;
    auto result = take(std::get<queue::ReceiveMessage>(request.action), now);
    if (result.messages.empty() && now < request.until) return false;
    request.call->done(std::move(result));
    return true;
  });
}

queue::ReceiveMessageResult FakeService::take(const queue::ReceiveMessage& receive,
                                              Clock::time_point now) {
  queue::ReceiveMessageResult result;
  const auto most = static_cast<std::size_t>(receive.messages_max.value_or(1));
  const auto found = queues_.find(receive.queue);
  if (found == queues_.end()) return result;
  for (Stored& stored : found->second.messages) {
    if (result.messages.size() >= most) break;
    if (stored.visible_at > now) continue;
    stored.visible_at = now + std::chrono::seconds(receive.visibility_timeout.value_or(30));
    stored.message.receipt_handle = fmt::format("handle+{}/=", ++last_id_);
    result.messages.push_back(stored.message);
    if (receive.message_attribute_names.empty()) {
      result.messages.back().message_attributes.clear();
      result.messages.back().attributes_md5.clear();
    }
  }
  return result;
}

}  // namespace canopy::gateway
