// SPDX-License-Identifier: Apache-2.0
#include "modules/data_parallel/gradient_reducer.hpp"

#include "modules/data_parallel/bucket_reducer.hpp"
#include "modules/data_parallel/ordered_reducer.hpp"

namespace charter {

template <class T>
std::unique_ptr<GradientReducer<T>> make_gradient_reducer(ExecutionQueue& queue, const ParameterList& list,
                                                          const Communicator& data_axis,
                                                          const ReducerOptions& options) {
  if (queue.order_fixed()) return std::make_unique<OrderedReducer<T>>(queue, list, data_axis);
  return std::make_unique<BucketReducer<T>>(queue, list, data_axis, options);
}

template std::unique_ptr<GradientReducer<float>> make_gradient_reducer<float>(ExecutionQueue&,
                                                                              const ParameterList&,
                                                                              const Communicator&,
                                                                              const ReducerOptions&);
template std::unique_ptr<GradientReducer<double>> make_gradient_reducer<double>(ExecutionQueue&,
                                                                                const ParameterList&,
                                                                                const Communicator&,
                                                                                const ReducerOptions&);

}  // namespace charter
