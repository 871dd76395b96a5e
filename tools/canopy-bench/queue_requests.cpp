#include "canopy-bench/queue_requests.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "canopy-bench/ledger.hpp"

namespace canopy::tools {

namespace {

// A body that notes where its numbers are.
class SendBody {
 public:
  explicit SendBody(std::string start) : text_(std::move(start)) {}

  void add(std::string_view text) { text_ += text; }
  void add_number() { add_digits(numbers, number_digits); }
  void add_sender() { add_digits(senders, sender_digits); }

  void add_message(const LoadPlan& plan) {
    add(R"("MessageBody":")");
    add_number();
    add_sender();
    text_.append(plan.size - body_size_min, body_filler);
    if (plan.fifo) {
      add(R"(","MessageDeduplicationId":")");
      add_number();
      add(R"(","MessageGroupId":")");
      add_sender();
    }
    add("\"");
  }

  const std::string& text() const { return text_; }

  std::vector<std::size_t> numbers;
  std::vector<std::size_t> senders;

 private:
  void add_digits(std::vector<std::size_t>& places, std::size_t digits) {
    places.push_back(text_.size());
    text_.append(digits, '0');
  }

  std::string text_;
};

}  // namespace

QueueRequests::QueueRequests(const LoadPlan& plan, const Signer* signer, std::string_view queue_url)
    : plan_(plan),
      signer_(signer),
      start_(fmt::format(R"({{"QueueUrl":{},)", boost::json::serialize(queue_url))),
      delete_(plan.target, signer, "DeleteMessage"),
      delete_batch_(plan.target, signer, "DeleteMessageBatch") {}

QueueRequests::Send QueueRequests::make_send(unsigned count, bool batch) const {
  SendBody body(start_);
  if (batch) {
    body.add(R"("Entries":[)");
    for (unsigned i = 0; i < count; ++i) {
      body.add(fmt::format(R"({}{{"Id":"{}",)", i == 0 ? "" : ",", i));
      body.add_message(plan_);
      body.add("}");
    }
    body.add("]}");
  } else {
    body.add_message(plan_);
    body.add("}");
  }
  Send send{SqsRequest(plan_.target, signer_, batch ? "SendMessageBatch" : "SendMessage"),
            body.numbers, body.senders};
  send.request.set_body(body.text());
  return send;
}

std::string_view QueueRequests::send(std::uint64_t first, unsigned sender, unsigned count,
                                     bool batch) {
  auto& send = (batch ? batches_ : singles_)[count - 1];
  if (!send) send = make_send(count, batch);
  const std::size_t numbers_each = send->numbers.size() / count;
  for (std::size_t i = 0; i < send->numbers.size(); ++i)
    put_digits(send->request.body() + send->numbers[i], number_digits, first + i / numbers_each);
  for (const std::size_t place : send->senders)
    put_digits(send->request.body() + place, sender_digits, sender);
  return send->request.bytes();
}

std::string_view QueueRequests::receive(unsigned count, std::chrono::seconds wait) {
  if (wait != wait_) receives_ = {};
  wait_ = wait;
  auto& receive = receives_[count - 1];
  if (!receive) {
    receive.emplace(plan_.target, signer_, "ReceiveMessage");
    receive->set_body(fmt::format(R"({}"MaxNumberOfMessages":{},"WaitTimeSeconds":{}}})", start_,
                                  count, wait.count()));
  }
  return receive->bytes();
}

std::string_view QueueRequests::remove(const std::vector<std::string_view>& handles, bool batch) {
  body_ = start_;
  if (batch) {
    body_ += R"("Entries":[)";
    for (std::size_t i = 0; i < handles.size(); ++i) {
      body_ += i == 0 ? R"({"Id":")" : R"(,{"Id":")";
      body_ += static_cast<char>('0' + i);
      body_ += R"(","ReceiptHandle":")";
      body_ += handles[i];
      body_ += R"("})";
    }
    body_ += "]}";
  } else {
    body_ += R"("ReceiptHandle":")";
    body_ += handles.front();
    body_ += "\"}";
  }
  SqsRequest& request = batch ? delete_batch_ : delete_;
  request.set_body(body_);
  return request.bytes();
}

}  // namespace canopy::tools
