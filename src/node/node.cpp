#include <utility>

#include <canopy/node.hpp>

#include "node/node_core.hpp"
#include "node/open_request.hpp"

namespace canopy {
namespace detail {
namespace {

// Starts an operation: `call` runs on the overlay's thread, unless the node is
// gone or its mailbox has no room for `bytes` more.
template <class... Results, class Call>
node::Mailbox::Posted start_on(const std::weak_ptr<NodeCore>& node,
                               const boost::asio::any_io_executor& executor,
                               Completion<Results...> done, std::size_t bytes, Call call,
                               std::function<void()> cancelled = nullptr) {
  auto operation =
      node::Operation<Results...>::start(executor, std::move(done), std::move(cancelled));
  const std::shared_ptr<NodeCore> core = node.lock();
  if (!core) {
    operation->fail(errc::shutting_down);
    return node::Mailbox::Posted::closed;
  }
  // The mailbox is closed before the core goes.
  const auto posted = core->mailbox().post(
      [raw = core.get(), operation, call = std::move(call)] { call(raw->overlay(), operation); },
      bytes);
  if (posted == node::Mailbox::Posted::full) operation->fail(errc::queue_full);
  if (posted == node::Mailbox::Posted::closed) operation->fail(errc::shutting_down);
  return posted;
}

std::size_t size_of(const Payload& payload, const Headers& headers) {
  std::size_t bytes = payload.size();
  for (const auto& [key, value] : headers) bytes += key.size() + value.size();
  return bytes;
}

}  // namespace

NodeRef::NodeRef(std::weak_ptr<NodeCore> core, boost::asio::any_io_executor executor) noexcept
    : core_(std::move(core)), executor_(std::move(executor)) {}

void NodeRef::start(Completion<> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [](node::Overlay& overlay, const auto& operation) { overlay.start(operation); });
}

void NodeRef::stop(Completion<> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [](node::Overlay& overlay, const auto& operation) { overlay.stop(operation); });
}

void NodeRef::wait(Completion<> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [](node::Overlay& overlay, const auto& operation) { overlay.wait(operation); });
}

void NodeRef::create(GroupName group, GroupMode mode, Completion<> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [group = std::move(group), mode](node::Overlay& overlay, const auto& operation) {
             overlay.create(group, mode, operation);
           });
}

void NodeRef::create_with(GroupName group, CreateOptions options,
                          Completion<CreateResult> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [group = std::move(group), options = std::move(options)](node::Overlay& overlay,
                                                                    const auto& operation) {
             overlay.create(group, options, operation);
           });
}

void NodeRef::access(GroupName group, Completion<GroupDefinition> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [group = std::move(group)](node::Overlay& overlay, const auto& operation) {
             overlay.access(group, operation);
           });
}

void NodeRef::set_access(GroupName group, std::uint64_t version, AccessList access,
                         std::string secret, Completion<GroupDefinition> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [group = std::move(group), version, access = std::move(access),
            secret = std::move(secret)](node::Overlay& overlay, const auto& operation) {
             overlay.set_access(group, version, access, secret, operation);
           });
}

void NodeRef::delete_group(GroupName group, std::string secret, Completion<> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [group = std::move(group), secret = std::move(secret)](node::Overlay& overlay,
                                                                  const auto& operation) {
             overlay.delete_group(group, secret, operation);
           });
}

void NodeRef::join(GroupName group, JoinOptions options, Completion<Subscription> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [group = std::move(group), options](node::Overlay& overlay, const auto& operation) {
             overlay.join(group, options, operation);
           });
}

void NodeRef::publish(GroupName group, Payload payload, PublishOptions options,
                      Completion<PublishResult> done) const {
  const std::size_t bytes = size_of(payload, options.headers);
  const std::uint64_t chain = options.chain;
  const auto posted =
      start_on(core_, executor_, std::move(done), bytes,
               [group = std::move(group), payload = std::move(payload),
                options = std::move(options)](node::Overlay& overlay, const auto& operation) {
                 overlay.publish(group, payload, options, operation);
               });
  const std::shared_ptr<NodeCore> core = core_.lock();
  if (posted != node::Mailbox::Posted::full || chain == 0 || !core) return;
  core->mailbox().post_always([raw = core.get(), chain] { raw->overlay().break_chain(chain); });
}

void NodeRef::anycast(GroupName group, Payload payload, AnycastOptions options,
                      Completion<AnycastResult> done) const {
  const std::size_t bytes = size_of(payload, options.headers);
  start_on(core_, executor_, std::move(done), bytes,
           [group = std::move(group), payload = std::move(payload), options = std::move(options)](
               node::Overlay& overlay, const auto& operation) {
             overlay.anycast(group, payload, options, operation);
           });
}

void NodeRef::request(GroupName group, Payload payload, RequestOptions options,
                      Completion<RequestResult> done) const {
  const std::size_t bytes = size_of(payload, options.headers);
  // The request's id, once it has one; of the overlay's thread.
  auto id = std::make_shared<wire::MessageId>();
  auto cancelled = [weak = core_, id] {
    const auto core = weak.lock();
    if (!core) return;
    core->mailbox().post_always([raw = core.get(), id] { raw->overlay().cancel_request(*id); });
  };
  start_on(
      core_, executor_, std::move(done), bytes,
      [group = std::move(group), payload = std::move(payload), options = std::move(options), id](
          node::Overlay& overlay, const auto& operation) {
        *id = overlay.request(group, payload, options, operation);
      },
      std::move(cancelled));
}

void NodeRef::reply(std::shared_ptr<OpenRequest> request, Payload payload, ReplyOptions options,
                    Completion<> done) const {
  const std::size_t bytes = size_of(payload, options.headers);
  start_on(core_, executor_, std::move(done), bytes,
           [request = std::move(request), payload = std::move(payload),
            options = std::move(options)](node::Overlay& overlay, const auto& operation) {
             overlay.reply(request, payload, options, operation);
           });
}

void NodeRef::status(Completion<NodeStatus> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [](node::Overlay& overlay, const auto& operation) { overlay.status(operation); });
}

void NodeRef::ring(Completion<Ring> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [](node::Overlay& overlay, const auto& operation) { overlay.ring(operation); });
}

void NodeRef::route(Key key, Completion<Route> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [key](node::Overlay& overlay, const auto& operation) { overlay.route(key, operation); });
}

void NodeRef::tree(GroupName group, std::string secret, Completion<Tree> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [group = std::move(group), secret = std::move(secret)](node::Overlay& overlay,
                                                                  const auto& operation) {
             overlay.tree(group, secret, operation);
           });
}

void NodeRef::member_count(GroupName group, std::string secret,
                           Completion<MemberCount> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [group = std::move(group), secret = std::move(secret)](node::Overlay& overlay,
                                                                  const auto& operation) {
             overlay.member_count(group, secret, operation);
           });
}

void NodeRef::groups(Completion<std::vector<GroupInfo>> done) const {
  start_on(core_, executor_, std::move(done), 0,
           [](node::Overlay& overlay, const auto& operation) { overlay.groups(operation); });
}

}  // namespace detail

Node::Node(boost::asio::any_io_executor executor, NodeOptions options)
    : core_(std::make_shared<detail::NodeCore>(executor, std::move(options))),
      ref_(core_, executor),
      executor_(std::move(executor)) {}

Node::~Node() { core_->close(); }

void Node::decline(const Message& request) noexcept {
  if (request.request && request.request->handle) request.request->handle->decline();
}

PeerInfo Node::self() const { return core_->self(); }

std::string Node::failure() const { return core_->failure(); }

Beginning Node::beginning() const { return core_->beginning(); }

boost::asio::any_io_executor Node::get_executor() const { return executor_; }

}  // namespace canopy
