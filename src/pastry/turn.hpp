// One call from outside into a Pastry node. The application may call back from
// within: only the end of the outermost call settles what is open (upcalls
// about the leaf set, measurements, the timer).
#pragma once

#include "pastry/pastry.hpp"

namespace canopy::pastry {

class Pastry::Turn {
 public:
  explicit Turn(Pastry& pastry) : pastry_(pastry) {
    if (pastry_.depth_++ == 0) pastry_.notice_stall();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (pastry_.depth_ == 1) pastry_.settle();
    --pastry_.depth_;
  }

 private:
  Pastry& pastry_;
};

// By index: a handler may start another walk.
template <typename Call>
void Pastry::for_each_walk(Call call) {
  if (!inspection_) return;
  for (std::size_t i = 0; i < inspection_->walks.size(); ++i) call(*inspection_->walks[i]);
}

}  // namespace canopy::pastry
