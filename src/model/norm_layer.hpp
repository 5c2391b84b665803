// SPDX-License-Identifier: Apache-2.0
// The norm of a residual stream, RMSNorm or LayerNorm as the model has it, behind one stateless interface.
#pragma once

#include "src/kernels/kernel_types.hpp"
#include "src/model/gradient_sink.hpp"
#include "src/model/model_config.hpp"
#include "src/model/parameter_store.hpp"
#include "src/model/residual_stream.hpp"

namespace charter {

// What backward needs besides the input: [rows] each.
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

  // y [rows, C] = norm(x). Token by token: the rows may be all tokens or a shard of them.
  void forward(ExecutionQueue& queue, const ParameterStore<T>& weights, const DeviceTensor<const T>& x,
               const DeviceTensor<T>& y, NormSaved<T>& saved) const;
  // d_x (+)= the gradient through the norm. Token by token.
  void backward_input(ExecutionQueue& queue, const ParameterStore<T>& weights,
                      const DeviceTensor<const T>& d_y, const DeviceTensor<const T>& x,
                      const NormSaved<T>& saved, const DeviceTensor<T>& d_x, kernels::Store store) const;
  // From the rows held here: a summand where the residual stream is cut by tokens.
  template <class Residual>
  void backward_weight(ExecutionQueue& queue, const Residual& residual,
                       typename Residual::template Rows<const T> d_y,
                       typename Residual::template Rows<const T> x, const NormSaved<T>& saved,
                       GradientSink<T>& sink) const;

 private:
  NormKind kind_;
  double epsilon_;
  NormParameters ids_;
};

}  // namespace charter
