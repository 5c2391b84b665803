// SPDX-License-Identifier: Apache-2.0
// The norm of a residual stream, RMSNorm or LayerNorm as the model has it, behind one stateless interface.
#pragma once

#include "src/kernels/kernel_types.hpp"
#include "src/model/gradient_sink.hpp"
#include "src/model/model_config.hpp"
#include "src/model/parameter_store.hpp"
#include "src/tensor/placement.hpp"

namespace charter {

// What backward needs besides the input: [T] each.
template <class T>
struct NormSaved {
  DeviceBuffer<T> mean;     // LayerNorm only
  DeviceBuffer<T> inverse;  // 1 / root mean square, or 1 / deviation
};

template <class T>
class NormLayer {
 public:
  NormLayer(const ModelConfig& config, const NormParameters& ids)
      : kind_(config.norm), epsilon_(config.norm_epsilon), ids_(ids) {}

  // y [T, C] = norm(x).
  void forward(ExecutionQueue& queue, const ParameterStore<T>& weights, Replicated<const T> x,
               Replicated<T> y, NormSaved<T>& saved) const;
  // d_x (+)= the gradient through the norm.
  void backward_input(ExecutionQueue& queue, const ParameterStore<T>& weights, Replicated<const T> d_y,
                      Replicated<const T> x, const NormSaved<T>& saved, Replicated<T> d_x,
                      kernels::Store store) const;
  void backward_weight(ExecutionQueue& queue, Replicated<const T> d_y, Replicated<const T> x,
                       const NormSaved<T>& saved, GradientSink<T>& sink) const;

 private:
  NormKind kind_;
  double epsilon_;
  NormParameters ids_;
};

}  // namespace charter
