#include "system/told.hpp"

namespace canopy::system_test {

void Told::note(const wire::control::Answer& answer) {
  if (const auto* message = std::get_if<wire::control::Message>(&answer)) {
    numbers.push_back(std::stoull(std::string(message->content.payload.view())));
    positions.emplace_back(message->epoch, message->position);
  } else if (const auto* gap = std::get_if<wire::control::Gap>(&answer)) {
    gaps.push_back(*gap);
  } else if (const auto* told = std::get_if<wire::control::Lost>(&answer)) {
    (told->on_the_way ? lost : dropped) += told->count;
  }
}

std::uint64_t Told::in_gaps() const {
  std::uint64_t count = 0;
  for (const wire::control::Gap& gap : gaps)
    if (gap.last != 0) count += gap.last - gap.first + 1;
  return count;
}

Id id_of_group(const std::string& name) { return Id::hash_of(name + "canopy"); }

std::vector<std::string> names_around(const Id& key, unsigned digit_bits, std::size_t members,
                                      std::size_t hops) {
  std::vector<std::string> names;
  std::vector<std::string> others;
  const unsigned digit = key.digit(0, digit_bits);
  for (int n = 0; names.size() < members || others.size() < hops; ++n) {
    const std::string name = "peer-" + std::to_string(n);
    const bool shared = Id::hash_of(name).digit(0, digit_bits) == digit;
    (shared ? others : names).push_back(name);
  }
  names.resize(members);
  names.insert(names.end(), others.begin(), others.begin() + static_cast<std::ptrdiff_t>(hops));
  return names;
}

}  // namespace canopy::system_test
