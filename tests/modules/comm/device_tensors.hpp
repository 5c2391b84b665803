// SPDX-License-Identifier: Apache-2.0
// Device tensors from and to host vectors, for tests of collectives on them.
#pragma once

#include <vector>

#include "src/tensor/execution_queue.hpp"

namespace charter::test {

class DeviceTensors {
 public:
  explicit DeviceTensors(MemoryPool::Mode mode = MemoryPool::Mode::run)
      : pool_(mode, std::int64_t{1} << 24) {}

  ExecutionQueue& queue() { return queue_; }
  DeviceBuffer<float> upload(const std::vector<float>& values) {
    auto buffer = make_buffer<float>(queue_, MemoryCategory::communication,
                                     {static_cast<std::int64_t>(values.size())}, "test");
    copy_to_device<float>(queue_, buffer.tensor(), values);
    queue_.wait_host();
    return buffer;
  }
  std::vector<float> download(const DeviceBuffer<float>& buffer) {
    std::vector<float> values(static_cast<std::size_t>(buffer.size()));
    copy_to_host<float>(queue_, values, buffer.tensor());
    queue_.wait_host();
    return values;
  }

 private:
  MemoryPool pool_;
  ExecutionQueue queue_{pool_, Arithmetic::fast};
};

}  // namespace charter::test
