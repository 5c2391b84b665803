// SPDX-License-Identifier: Apache-2.0
#include "modules/data_parallel/gradient_reducer.hpp"

#include "modules/data_parallel/bucket_reducer.hpp"
#include "modules/data_parallel/ordered_reducer.hpp"
#include "src/tensor/device_memory.hpp"

namespace charter {

template <class T>
std::unique_ptr<GradientReducer<T>> make_gradient_reducer(ExecutionQueue& queue, const ParameterList& list,
                                                          const Communicator& data_axis,
                                                          const ReducerOptions& options) {
  if (queue.order_fixed()) return std::make_unique<OrderedReducer<T>>(queue, list, data_axis);
  return std::make_unique<BucketReducer<T>>(queue, list, data_axis, options);
}

template <class T>
Buffer host_visible(const DeviceTensor<T>& tensor) {
  if (!device_memory_is_host_memory()) {
    fail(ExitCode::device_unfit,
         "data parallelism over device memory needs the NCCL backend, and this build reduces "
         "through host memory only; run one rank, or a build for the CPU");
  }
  return Buffer(std::span<T>(tensor.data(), static_cast<std::size_t>(tensor.size())));
}

template std::unique_ptr<GradientReducer<float>> make_gradient_reducer<float>(ExecutionQueue&,
                                                                              const ParameterList&,
                                                                              const Communicator&,
                                                                              const ReducerOptions&);
template std::unique_ptr<GradientReducer<double>> make_gradient_reducer<double>(ExecutionQueue&,
                                                                                const ParameterList&,
                                                                                const Communicator&,
                                                                                const ReducerOptions&);
template Buffer host_visible<float>(const DeviceTensor<float>&);
template Buffer host_visible<double>(const DeviceTensor<double>&);

}  // namespace charter
