// Random histories of a log and a store on a disk that loses, tears and fails: what
// was acknowledged is there after every crash, in order, and nothing else.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "store/damage.hpp"
#include "store/fault_disk.hpp"
#include "store/fault_log.hpp"
#include "store/fault_store.hpp"
#include "store/recovery.hpp"
#include "support/seeds.hpp"

namespace canopy::store {
namespace {

LogOptions tiny_segments() {
  LogOptions options;
  options.owner = {Uuid::from_random_bits(1, 2), Uuid::from_random_bits(3, 4)};
  options.segment_bytes = 8192;
  options.frame_bytes = 600;
  options.record_bytes_max = 3000;
  options.pending_bytes_max = 20'000;
  return options;
}

std::string key_of(std::uint64_t index) {
  char text[24];
  std::snprintf(text, sizeof text, "%020llu", static_cast<unsigned long long>(index));
  return text;
}

// One history. Every record is written to the store under its index; every record
// that was ever submitted is another one.
class History final : public LogEvents {
 public:
  explicit History(std::uint64_t seed)
      : random_(seed), disk_(random_.next()), store_(random_.next()) {
    choose_faults();
    log_ = std::make_unique<FaultLog>(disk_, tiny_segments(), *this);
  }

  void ignore_syncs() { disk_.faults.ignores_syncs = true; }

  // What went wrong; empty if nothing did.
  std::string run(int steps) {
    for (int i = 0; i < steps && problem_.empty(); ++i) step();
    if (problem_.empty()) crash();
    return problem_;
  }

  std::uint64_t acknowledged() const { return acknowledged_; }
  std::uint64_t failures() const { return failures_; }
  std::uint64_t crashes() const { return crashes_; }

  void persisted(std::uint64_t index) override {
    for (std::uint64_t i = acknowledged_ + 1; i <= index; ++i) {
      kept_[i] = submitted_.at(i);
      to_apply_.push_back(i);
    }
    acknowledged_ = index;
    candidates_.erase(candidates_.begin(), candidates_.upper_bound(index));
  }

  void failed(std::uint64_t first, boost::system::error_code) override {
    ++failures_;
    if (first != acknowledged_ + 1) problem_ = "failed() leaves a gap";
    submitted_.erase(submitted_.lower_bound(first), submitted_.end());
  }

 private:
  void choose_faults() {
    bool failing = random_.chance(0.5);
    disk_.faults.write_error = failing ? 0.05 : 0;
    disk_.faults.sync_error = failing ? 0.05 : 0;
    disk_.faults.name_error = failing ? 0.05 : 0;
    if (random_.chance(0.2)) disk_.faults.room = 8192 * (2 + random_.below(4));
    store_.faults.apply_error = failing ? 0.05 : 0;
  }

  void step() {
    std::uint64_t what = random_.below(100);
    if (what < 45) submit();
    if (what >= 45 && what < 80) log_->write();
    if (what >= 80 && what < 90) apply();
    if (what >= 90 && what < 93) store_.flush();
    if (what >= 93 && what < 96) store_.persist();
    if (what >= 96 && what < 98) log_->cut_before(store_.persisted() + 1);
    if (what == 98) log_->write();
    if (what == 99) crash();
  }

  void submit() {
    for (std::uint64_t count = random_.below(8); count > 0; --count) {
      std::string record = "record " + std::to_string(++made_) + " ";
      record.append(random_.below(random_.chance(0.1) ? 2900 : 200), 'x');
      boost::system::result<std::uint64_t> index = log_->submit(Buffer::copy_of(record));
      if (!index) return;
      submitted_[*index] = record;
      candidates_[*index].insert(record);
    }
  }

  void apply() {
    std::size_t done = 0;
    for (; done < to_apply_.size() && apply_one(to_apply_[done]); ++done) {
    }
    to_apply_.erase(to_apply_.begin(), to_apply_.begin() + static_cast<std::ptrdiff_t>(done));
  }

  bool apply_one(std::uint64_t index) {
    Batch batch;
    batch.put(key_of(index), kept_.at(index));
    return !store_.apply(batch, index);
  }

  void crash() {
    ++crashes_;
    disk_.crash();
    store_.crash();
    to_apply_.clear();
    try {
      log_ = std::make_unique<FaultLog>(disk_, tiny_segments(), *this);
      recover();
    } catch (const Damage& damage) {
      problem_ = damage.what();
    }
    candidates_.clear();
    submitted_.clear();
  }

  void recover() {
    if (log_->last() < acknowledged_)
      problem_ = "record " + std::to_string(log_->last() + 1) + " was acknowledged and is lost";
    std::uint64_t expected = store_.applied() + 1;
    replay(store_, *log_, [&](std::uint64_t index, std::string_view record) {
      if (index != expected++) problem_ = "the order changed";
      if (index <= acknowledged_ ? kept_.at(index) != record : !is_candidate(index, record))
        problem_ = "record " + std::to_string(index) + " is another one";
      kept_[index] = record;
      while (!apply_one(index)) {
      }
    });
    acknowledged_ = std::max(acknowledged_, log_->last());
    check_store();
  }

  bool is_candidate(std::uint64_t index, std::string_view record) const {
    auto found = candidates_.find(index);
    return found != candidates_.end() && found->second.contains(record);
  }

  void check_store() {
    std::uint64_t count = 0;
    for (auto at = store_.range(key_of(0), "9"); at->valid(); at->next(), ++count)
      if (kept_.at(std::stoull(std::string(at->key()))) != at->value())
        problem_ = "the store differs";
    if (problem_.empty() && count != acknowledged_) problem_ = "the store lacks records";
  }

  Random random_;
  FaultDisk disk_;
  FaultStore store_;
  std::unique_ptr<FaultLog> log_;
  std::string problem_;
  std::uint64_t made_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t crashes_ = 0;
  std::map<std::uint64_t, std::string> submitted_;  // the latest of each index
  // Since the last acknowledgement: a crash may bring back any of them.
  std::map<std::uint64_t, std::set<std::string, std::less<>>> candidates_;
  std::map<std::uint64_t, std::string> kept_;
  std::vector<std::uint64_t> to_apply_;
};

TEST(FaultProperty, NothingAcknowledgedIsLostOrChangedByAnyCrash) {
  std::uint64_t acknowledged = 0;
  std::uint64_t failures = 0;
  std::uint64_t crashes = 0;
  const std::uint64_t seeds = seeds_or(3000);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    History history(seed);
    ASSERT_EQ(history.run(400), "") << "seed " << seed;
    acknowledged += history.acknowledged();
    failures += history.failures();
    crashes += history.crashes();
  }
  EXPECT_GT(acknowledged, seeds * 100);
  EXPECT_GT(failures, seeds);
  EXPECT_GT(crashes, seeds * 2);
}

TEST(FaultProperty, NoticesThatTheSyncIsMissing) {
  std::uint64_t noticed = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    History history(seed);
    history.ignore_syncs();
    if (!history.run(400).empty()) ++noticed;
  }
  EXPECT_GT(noticed, 90u);
}

}  // namespace
}  // namespace canopy::store
