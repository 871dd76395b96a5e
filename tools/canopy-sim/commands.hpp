// The commands of canopy-sim, each as its arguments and what runs them. run() returns the exit
// status: 0 done, 1 failed, 2 wrong usage or input.
#pragma once

#include <string>

#include "sim/churn_experiment.hpp"
#include "sim/disaster_experiment.hpp"
#include "sim/ring_experiment.hpp"
#include "sim/scribe_experiment.hpp"

namespace canopy::tools {

struct ScenarioCommand {
  std::string file;
  std::string trace;
  bool encode = false;
};

struct RingCommand {
  sim::RingOptions options;
  std::string trace;
  bool json = false;
};

struct ScribeCommand {
  sim::ScribeOptions options;
  std::string topology = "transit-stub";
  std::string tables = "ideal";
  std::string plot;  // a folder
  bool json = false;
};

struct ChurnCommand {
  sim::ChurnOptions options;
  double hours = 10;
  std::string trace;
  std::string plot;  // a file
  bool json = false;
};

struct DisasterCommand {
  sim::DisasterOptions options;
  std::string what;  // the word for it
  std::string profile = "lan";
  std::string trace;
  bool json = false;
};

struct FuzzCommand {
  std::string seeds;
  std::string trace;
  bool hard = false;
  bool encode = false;
  bool twice = false;
  bool hashes = false;
  bool rare = false;
  bool json = false;
};

struct TraceHashCommand {
  std::string path;
};

int run(const ScenarioCommand& command);
int run(const RingCommand& command);
int run(const ScribeCommand& command);
int run(const ChurnCommand& command);
int run(const DisasterCommand& command);
int run(const FuzzCommand& command);
int run(const TraceHashCommand& command);

}  // namespace canopy::tools
