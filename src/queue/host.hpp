// Who runs a machine: the storage loop in a daemon, a loop in virtual time in
// tests.
#pragma once

#include "queue/state.hpp"

namespace canopy::queue {

class Host {
 public:
  // A command of the machine's own; submitted in the order of these calls and of
  // what prepare() returns.
  virtual void submit(Command command) = 0;
  // The same, and its outcome is the answer to this request.
  virtual void submit(Command command, Token token) = 0;

  virtual void answer(Token token, Outcome outcome) = 0;

  // Asked right before messages are given to a request that has waited: whether
  // its client is still there. Nothing is given to one that is not.
  virtual bool present(Token token) = 0;

 protected:
  ~Host() = default;
};

}  // namespace canopy::queue
