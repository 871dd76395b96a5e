// When to dial which seed: all in parallel (within a bound), again after a
// growing, jittered pause. Peers known from an earlier life are seeds, too, but
// that they are of another cluster now means nothing.
//
// A state machine without I/O: the owner dials what due() names and tells what
// came of it. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"

namespace canopy::node {

class Seeds {
 public:
  struct Config {
    Duration pause_min = std::chrono::milliseconds(200);
    Duration pause_max = std::chrono::seconds(10);
    std::size_t dials_max = 8;  // at a time
  };

  Seeds(const std::vector<std::string>& addresses, const Config& config, Random random);

  // More of them, from an earlier life.
  void remember(const std::vector<std::string>& addresses);
  bool is_remembered(std::string_view address) const noexcept;

  // The seeds to dial now; they count as being dialled from here on.
  std::vector<std::string> due(MonoTime now);

  // Any of them but those that lead back here or are being dialled, to be dialled now
  // although all may be well; nothing if there is none. Remembered ones only where no
  // other is: they were of this ring, and a seed may lead to another.
  std::optional<std::string> one_again();

  // When due() may have something without anything else happening.
  MonoTime next() const noexcept;

  // The dial came to nothing, or a connected seed went away: the pause until
  // the next try.
  Duration failed(std::string_view address, MonoTime now);

  // The dial led to a peer of another cluster, which a later one need not.
  Duration refused(std::string_view address, MonoTime now);

  void connected(std::string_view address);

  // It leads back to this node: never dialled again.
  void is_self(std::string_view address);

  bool empty() const noexcept { return seeds_.empty(); }
  bool only_self() const noexcept;
  bool all_tried() const noexcept;

  // The last answer of each that was given was a refusal, but for those that lead back
  // here, and none that is remembered answers.
  bool all_refuse() const noexcept;

 private:
  enum class State { waiting, dialling, connected, self };
  struct Seed {
    std::string address;
    State state = State::waiting;
    MonoTime next{};  // while waiting
    unsigned failures = 0;
    bool tried = false;
    bool refuses = false;  // said so at the last dial
    bool remembered = false;
  };
  void add(const std::string& address, bool remembered);
  Seed* find(std::string_view address);
  const Seed* find(std::string_view address) const;

  Config config_;
  Random random_;
  std::vector<Seed> seeds_;
};

}  // namespace canopy::node
