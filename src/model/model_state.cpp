// SPDX-License-Identifier: Apache-2.0
#include "src/model/model_state.hpp"

#include "src/kernels/elementwise.hpp"

namespace charter {

template <class T>
void ModelState<T>::zero_padding(ExecutionQueue& queue) {
  kernels::fill<T>(queue, weights.flat(), T(0));
}

template class ModelState<float>;
template class ModelState<double>;

}  // namespace charter
