#include "system/process.hpp"

#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace canopy::system_test {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void redirect(const std::string& path, int to) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0 || ::dup2(file, to) < 0) ::_exit(127);
  ::close(file);
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const std::string& stem)
    : arguments_(arguments), stem_(stem) {
  start();
}

void Process::start() {
  status_.reset();
  std::ofstream(stem_ + ".out");  // an earlier run's is gone
  std::vector<char*> words;
  for (std::string& argument : arguments_) words.push_back(argument.data());
  words.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ != 0) return;
  // It must not outlive the test, whatever becomes of that.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  redirect("/dev/null", STDIN_FILENO);
  redirect(stem_ + ".out", STDOUT_FILENO);
  redirect(stem_ + ".err", STDERR_FILENO);
  ::execv(words[0], words.data());
  ::_exit(127);
}

Process::~Process() {
  if (!running()) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Process::signal(int number) const {
  if (pid_ > 0 && !status_) ::kill(pid_, number);
}

bool Process::running() {
  if (status_) return false;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == 0) return true;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return false;
}

std::optional<int> Process::wait(milliseconds time_max) {
  eventually(time_max, [this] { return !running(); });
  return status_;
}

std::string Process::out() const { return read_file(stem_ + ".out"); }

std::string Process::err() const { return read_file(stem_ + ".err"); }

long Process::resident_kib() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
  for (std::string word; file >> word;) {
    long value = 0;
    if (word == "VmRSS:" && file >> value) return value;
  }
  return 0;
}

void pause_briefly() { ::poll(nullptr, 0, 2); }

}  // namespace canopy::system_test
