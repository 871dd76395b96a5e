#include "store/rocks_files.hpp"

#include <cstdarg>
#include <utility>

namespace canopy::store {
namespace {

using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// A lack of space is one as any other here: for that one RocksDB has a watch of its
// own, which does not end where no compaction has told it the directory yet.
IOStatus retryable(IOStatus status) {
  if (status.IsNoSpace()) {
    const char* text = status.getState();
    status = IOStatus::IOError(text != nullptr ? text : "no space left");
  }
  if (!status.ok()) status.SetRetryable(true);
  return status;
}

class RetryingFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::Append;
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* context) override {
    return retryable(FSWritableFileOwnerWrapper::Append(data, options, context));
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* context) override {
    return retryable(FSWritableFileOwnerWrapper::Append(data, options, info, context));
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* context) override {
    return retryable(FSWritableFileOwnerWrapper::Flush(options, context));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* context) override {
    return retryable(FSWritableFileOwnerWrapper::Sync(options, context));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* context) override {
    return retryable(FSWritableFileOwnerWrapper::Fsync(options, context));
  }
  IOStatus Close(const IOOptions& options, IODebugContext* context) override {
    return retryable(FSWritableFileOwnerWrapper::Close(options, context));
  }
};

class RetryingFiles final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;

  static const char* kClassName() { return "canopy.RetryingFiles"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file,
                           IODebugContext* context) override {
    std::unique_ptr<FSWritableFile> opened;
    IOStatus status = FileSystemWrapper::NewWritableFile(name, options, &opened, context);
    if (status.ok()) *file = std::make_unique<RetryingFile>(std::move(opened));
    return retryable(status);
  }
};

class NoLog final : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> retrying_files() {
  return std::make_shared<RetryingFiles>(rocksdb::FileSystem::Default());
}

std::shared_ptr<rocksdb::Logger> no_log() { return std::make_shared<NoLog>(); }

}  // namespace canopy::store
