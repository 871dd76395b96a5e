// One asynchronous operation of the public interface, from its start to its one
// completion.
//
// Whoever claims it first completes it: its work, its cancellation slot, or its
// end of life (an operation that everybody forgot completes with
// errc::shutting_down, so that no handler is ever lost). The handler runs on
// its associated executor, by way of the node's, never within the call that
// claimed. Until then the operation counts as work of both. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/system/error_code.hpp>

#include <canopy/detail/initiate.hpp>
#include <canopy/error.hpp>

namespace canopy::node {

template <class... Results>
class Operation : public std::enable_shared_from_this<Operation<Results...>> {
 public:
  using Handler = detail::Completion<Results...>;
  using Error = boost::system::error_code;

  // `cancelled` is called, on whatever thread, when a cancellation has completed it.
  static std::shared_ptr<Operation> start(const boost::asio::any_io_executor& executor,
                                          Handler handler,
                                          std::function<void()> cancelled = nullptr) {
    auto operation = std::make_shared<Operation>(executor, std::move(handler));
    operation->listen_for_cancellation(std::move(cancelled));
    return operation;
  }

  Operation(const boost::asio::any_io_executor& executor, Handler handler)
      : executor_(tracked(executor)),
        handler_executor_(tracked(boost::asio::any_completion_executor(
            boost::asio::get_associated_executor(handler, executor)))),
        handler_(std::move(handler)) {}
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation() { complete(errc::shutting_down, Results{}...); }

  // True for the one caller that has to finish() it.
  bool claim() noexcept { return !claimed_.exchange(true, std::memory_order_acq_rel); }
  bool claimed() const noexcept { return claimed_.load(std::memory_order_acquire); }

  // Only after claim().
  void finish(Error error, Results... results) {
    boost::asio::post(
        std::move(*executor_),
        [executor = std::move(*handler_executor_), handler = std::move(handler_), error,
         values = std::tuple<Results...>(std::move(results)...)]() mutable {
          auto call = [handler = std::move(handler), error, values = std::move(values)]() mutable {
            boost::asio::get_associated_cancellation_slot(handler).clear();
            std::apply([&](auto&&... value) { std::move(handler)(error, std::move(value)...); },
                       std::move(values));
          };
          executor.execute(std::move(call));
        });
    executor_.reset();
    handler_executor_.reset();
  }

  // Unless somebody else has claimed it.
  void complete(Error error, Results... results) {
    if (claim()) finish(error, std::move(results)...);
  }
  void fail(Error error) { complete(error, Results{}...); }

 private:
  template <class Executor>
  static Executor tracked(const Executor& executor) {
    return boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked);
  }

  void listen_for_cancellation(std::function<void()> cancelled) {
    auto slot = boost::asio::get_associated_cancellation_slot(handler_);
    if (!slot.is_connected()) return;
    slot.assign([weak = this->weak_from_this(),
                 cancelled = std::move(cancelled)](boost::asio::cancellation_type type) {
      if (type == boost::asio::cancellation_type::none) return;
      const auto operation = weak.lock();
      if (!operation || !operation->claim()) return;
      if (cancelled) cancelled();
      operation->finish(errc::cancelled, Results{}...);
    });
  }

  std::optional<boost::asio::any_io_executor> executor_;
  std::optional<boost::asio::any_completion_executor> handler_executor_;
  Handler handler_;
  std::atomic<bool> claimed_ = false;
};

}  // namespace canopy::node
