// SPDX-License-Identifier: Apache-2.0
// One flat device array that holds a value per held parameter element: the weights themselves, a moment, or a
// gradient.
#pragma once

#include "src/model/parameter_layout.hpp"
#include "src/tensor/execution_queue.hpp"

namespace charter {

template <class T>
class ParameterStore {
 public:
  // Uninitialised; padding between parameters included. `list` must outlive the store.
  ParameterStore(ExecutionQueue& queue, const ParameterList& list, MemoryCategory category, const char* label)
      : list_(&list), layout_(list), buffer_(make_buffer<T>(queue, category, {layout_.size()}, label)) {}

  // The held part of the parameter: [rows, columns] of the shard, or [elements].
  DeviceTensor<T> tensor(ParameterId id) const {
    return DeviceTensor<T>(buffer_.data() + layout_.offset(id), layout_.shape(id));
  }
  const DeviceTensor<T>& flat() const { return buffer_.tensor(); }
  const ParameterLayout& layout() const { return layout_; }
  const ParameterList& list() const { return *list_; }

 private:
  const ParameterList* list_;
  ParameterLayout layout_;
  DeviceBuffer<T> buffer_;
};

}  // namespace charter
