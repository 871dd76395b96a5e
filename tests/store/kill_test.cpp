// A process that writes to a log is killed at a random moment, again and again;
// what it said to be persisted is there. (The page cache survives, so this finds
// wrong order and bad recovery; fault_property_test.cpp loses data, too.)
#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "base/random.hpp"
#include "store/loop.hpp"
#include "store/posix_disk.hpp"
#include "store/scratch_directory.hpp"
#include "store/segmented_log.hpp"

namespace canopy::store {
namespace {

LogOptions options() {
  LogOptions options;
  options.owner = {Uuid::from_random_bits(1, 2), Uuid::from_random_bits(3, 4)};
  options.segment_bytes = 256 << 10;
  options.record_bytes_max = 64 << 10;
  return options;
}

// Its content follows from its index.
std::string record_of(std::uint64_t index) {
  return std::to_string(index) +
         std::string(index * 7919 % 700, static_cast<char>('a' + index % 26));
}

struct Announcer final : LogEvents {
  void persisted(std::uint64_t index) override {
    last = index;
    if (::write(out, &index, sizeof index) != sizeof index) ::_exit(2);
  }
  void failed(std::uint64_t, boost::system::error_code) override { ::_exit(3); }
  int out = -1;
  std::uint64_t last = 0;
};

// Writes and cuts until it is killed.
[[noreturn]] void write_forever(const std::string& directory, int out) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Loop loop;
  Announcer announcer;
  announcer.out = out;
  SegmentedLog log(std::make_unique<PosixDisk>(directory), options(), announcer, loop.post());
  announcer.last = log.last();
  for (std::uint64_t next = log.last() + 1;;) {
    for (int i = 0; i < 50; ++i, ++next)
      if (!log.submit(Buffer::copy_of(record_of(next)))) ::_exit(4);
    if (!loop.run_until([&] { return announcer.last + 200 > next; })) ::_exit(5);
    if (next % 500 == 1 && announcer.last > 2000) log.cut_before(announcer.last - 2000);
  }
}

struct Writer {
  pid_t process = -1;
  int out = -1;
};

Writer start(const std::string& directory) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  Writer writer;
  writer.process = ::fork();
  if (writer.process == 0) {
    ::close(ends[0]);
    write_forever(directory, ends[1]);
  }
  ::close(ends[1]);
  writer.out = ends[0];
  return writer;
}

// The last index it announced before it was killed.
std::uint64_t kill_after(const Writer& writer, std::uint64_t announcements) {
  std::uint64_t last = 0;
  std::uint64_t index = 0;
  while (::read(writer.out, &index, sizeof index) == sizeof index) {
    last = index;
    if (announcements-- == 0) ::kill(writer.process, SIGKILL);
    if (announcements > 1'000'000) announcements = 0;
  }
  ::close(writer.out);
  int status = 0;
  ::waitpid(writer.process, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "ended by itself: " << WEXITSTATUS(status);
  return last;
}

TEST(Kill, LosesNothingThatWasPersisted) {
  ScratchDirectory directory;
  Random random(7);
  std::uint64_t acknowledged = 0;
  for (int round = 0; round < 20; ++round) {
    Writer writer = start(directory.path());
    acknowledged = std::max(acknowledged, kill_after(writer, 1 + random.below(30)));
    Loop loop;
    Told told;
    SegmentedLog log(std::make_unique<PosixDisk>(directory.path()), options(), told, loop.post());
    ASSERT_GE(log.last(), acknowledged);
    std::uint64_t expected = log.first();
    log.replay(expected, [&](std::uint64_t index, std::string_view record) {
      ASSERT_EQ(index, expected++);
      ASSERT_EQ(record, record_of(index));
    });
    ASSERT_EQ(expected, log.last() + 1);
  }
  EXPECT_GT(acknowledged, 1000u);
}

}  // namespace
}  // namespace canopy::store
