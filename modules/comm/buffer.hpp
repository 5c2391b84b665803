// SPDX-License-Identifier: Apache-2.0
// What a collective moves: a pointer, a count of elements and an element type, all taken from one span, so
// that no interface speaks of bytes. A buffer does not own; the memory must outlive the call or the Request.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>

namespace charter {

enum class ElementType : std::uint8_t { u8, u16, i32, u32, i64, u64, f32, f64, f16, bf16 };

std::string_view to_string(ElementType type);
std::int64_t element_size(ElementType type);

// The element type of a C++ type. uint16_t holds bfloat16 or half bits and can be moved, not reduced; f16 and
// bf16 themselves appear with NCCL only.
template <class T>
struct ElementTypeOf;
template <>
struct ElementTypeOf<char> : std::integral_constant<ElementType, ElementType::u8> {};
template <>
struct ElementTypeOf<unsigned char> : std::integral_constant<ElementType, ElementType::u8> {};
template <>
struct ElementTypeOf<std::byte> : std::integral_constant<ElementType, ElementType::u8> {};
template <>
struct ElementTypeOf<std::uint16_t> : std::integral_constant<ElementType, ElementType::u16> {};
template <>
struct ElementTypeOf<float> : std::integral_constant<ElementType, ElementType::f32> {};
template <>
struct ElementTypeOf<double> : std::integral_constant<ElementType, ElementType::f64> {};
template <std::integral T>
requires(sizeof(T) == 4) struct ElementTypeOf<T>
    : std::integral_constant<ElementType, std::is_signed_v<T> ? ElementType::i32 : ElementType::u32> {
};
template <std::integral T>
requires(sizeof(T) == 8) struct ElementTypeOf<T>
    : std::integral_constant<ElementType, std::is_signed_v<T> ? ElementType::i64 : ElementType::u64> {
};

template <class T>
concept CommElement = requires {
  ElementTypeOf<std::remove_cv_t<T>>::value;
};

// A contiguous range of elements: std::span, std::vector, std::array, std::string. A temporary is accepted
// only where it does not own its elements (a span).
template <class R>
concept CommRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    CommElement<std::ranges::range_value_t<R>> && std::ranges::borrowed_range<R>;

// Read and written.
struct Buffer {
  void* data = nullptr;
  std::int64_t count = 0;
  ElementType type = ElementType::u8;

  Buffer(void* pointer, std::int64_t elements, ElementType element_type)
      : data(pointer), count(elements), type(element_type) {}
  template <CommRange R>
  requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
      Buffer(R&& range)  // NOLINT(google-explicit-constructor)
      : data(std::ranges::data(range)),
        count(static_cast<std::int64_t>(std::ranges::size(range))),
        type(ElementTypeOf<std::ranges::range_value_t<R>>::value) {}

  std::int64_t bytes() const { return count * element_size(type); }
};

// Read only.
struct ConstBuffer {
  const void* data = nullptr;
  std::int64_t count = 0;
  ElementType type = ElementType::u8;

  ConstBuffer(const void* pointer, std::int64_t elements, ElementType element_type)
      : data(pointer), count(elements), type(element_type) {}
  ConstBuffer(const Buffer& buffer) : data(buffer.data), count(buffer.count), type(buffer.type) {}  // NOLINT
  // Call sites pass spans and vectors as they are.
  template <CommRange R>
  ConstBuffer(R&& range)  // NOLINT(google-explicit-constructor)
      : data(std::ranges::data(range)),
        count(static_cast<std::int64_t>(std::ranges::size(range))),
        type(ElementTypeOf<std::ranges::range_value_t<R>>::value) {}

  std::int64_t bytes() const { return count * element_size(type); }
};

// One value as a span of one element: comm.broadcast(one(value), 0).
template <CommElement T>
std::span<T> one(T& value) {
  return {&value, 1};
}

}  // namespace charter
