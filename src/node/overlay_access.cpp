// The operations of the public interface on groups' definitions, on the overlay's
// thread.
#include <utility>

#include <canopy/error.hpp>

#include "node/access_text.hpp"
#include "node/overlay.hpp"
#include "node/overlay_refusal.hpp"
#include "node/values.hpp"

namespace canopy::node {

void Overlay::create(const GroupName& group, const CreateOptions& options,
                     const std::shared_ptr<Operation<CreateResult>>& done) {
  const wire::GroupName name = full_name(group);
  if (refuse(done, &name)) return;
  AccessList access = options.access;
  if (access.manage == Grant{.everybody = false}) access.manage.peers.push_back(to_key(self().id));
  const auto finish = [done](boost::system::error_code error,
                             const scribe::CreateOutcome& outcome) {
    done->complete(error, {outcome.existed, static_cast<GroupMode>(outcome.mode)});
  };
  peer_.scribe().create(name, static_cast<wire::GroupMode>(options.mode), to_wire(access),
                        token_key(options.token), finish);
  after_input();
}

scribe::StateCompletion Overlay::tells(
    const std::shared_ptr<Operation<GroupDefinition>>& done) const {
  return [done](boost::system::error_code error, const wire::GroupState& state) {
    GroupDefinition group;
    group.name = to_group_name(state.name);
    group.id = to_key(state.group);
    group.mode = static_cast<GroupMode>(state.mode);
    group.created = state.created;
    if (state.access) {
      group.access = to_access_list(*state.access);
      group.access_version = state.access->mark;
    }
    done->complete(error, std::move(group));
  };
}

void Overlay::access(const GroupName& group,
                     const std::shared_ptr<Operation<GroupDefinition>>& done) {
  const wire::GroupName name = full_name(group);
  if (refuse(done, &name)) return;
  peer_.scribe().look(name, tells(done));
  after_input();
}

void Overlay::set_access(const GroupName& group, std::uint64_t version, const AccessList& access,
                         const std::string& secret,
                         const std::shared_ptr<Operation<GroupDefinition>>& done) {
  const wire::GroupName name = full_name(group);
  if (refuse(done, &name)) return;
  peer_.scribe().set_access(name, version, to_wire(access), token_key(secret), tells(done));
  after_input();
}

void Overlay::delete_group(const GroupName& group, const std::string& secret,
                           const std::shared_ptr<Operation<>>& done) {
  const wire::GroupName name = full_name(group);
  if (refuse(done, &name)) return;
  peer_.scribe().remove(
      name, token_key(secret),
      [done](boost::system::error_code error, const wire::GroupState&) { done->complete(error); });
  after_input();
}

}  // namespace canopy::node
