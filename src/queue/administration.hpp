// The actions on queues themselves: creating, deleting, listing, attributes,
// tags, permissions, purging.
#pragma once

#include "queue/state.hpp"

namespace canopy::queue {

class Administration {
 public:
  explicit Administration(State& state) : state_(state) {}

  Prepared prepare(CreateQueue action, const Caller& caller);
  Prepared prepare(const DeleteQueue& action, const Caller& caller);
  Prepared prepare(SetQueueAttributes action, const Caller& caller);
  Prepared prepare(const PurgeQueue& action, const Caller& caller);
  Prepared prepare(TagQueue action, const Caller& caller);
  Prepared prepare(UntagQueue action, const Caller& caller);
  Prepared prepare(AddPermission action, const Caller& caller);
  Prepared prepare(RemovePermission action, const Caller& caller);

  Outcome answer(const GetQueueUrl& action, const Caller& caller);
  Outcome answer(const ListQueues& action, const Caller& caller);
  Outcome answer(const GetQueueAttributes& action, const Caller& caller);
  Outcome answer(const ListQueueTags& action, const Caller& caller);
  Outcome answer(const ListDeadLetterSourceQueues& action, const Caller& caller);

  Outcome apply(const Command& command, command::CreateQueue& create);
  Outcome apply(const Command& command, const command::DeleteQueue& drop);
  Outcome apply(const Command& command, const command::SetAttributes& set);
  Outcome apply(const Command& command, const command::SetTags& set);
  Outcome apply(const Command& command, const command::AddPermission& add);
  Outcome apply(const Command& command, const command::RemovePermission& remove);
  Outcome apply(const Command& command, const command::Purge& purge);

 private:
  std::optional<Error> check_name(const CreateQueue& action) const;
  std::optional<Error> check_redrive(const Attributes& given, const QueueName& source);
  std::optional<Error> check_tags(const Tags& tags, std::size_t total,
                                  const std::string& name) const;
  Outcome existing(const Queue& queue, const Attributes& given) const;
  void change(Queue& queue, Attributes attributes, Millis time);
  void list_as_source(Queue& queue, bool present);
  Outcome purged_recently(const Queue& queue) const;

  State& state_;
};

}  // namespace canopy::queue
