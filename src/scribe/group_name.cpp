#include "scribe/group_name.hpp"

namespace canopy::scribe {

namespace {
constexpr std::size_t part_max = 255;  // as the codec carries it
}

Id group_id(const wire::GroupName& name, unsigned id_bits) {
  return Id::hash_of(name.name + name.creator, id_bits);
}

bool valid_name(const wire::GroupName& name) noexcept {
  return !name.name.empty() && name.name.size() <= part_max && name.creator.size() <= part_max;
}

bool names(const wire::GroupName& name, const Id& group, unsigned id_bits) {
  return valid_name(name) && group_id(name, id_bits) == group;
}

}  // namespace canopy::scribe
