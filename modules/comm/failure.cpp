// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/failure.hpp"

#include <filesystem>
#include <new>

#include "src/base/error.hpp"

namespace charter {

Failure describe_failure(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::out_of_memory,
            "out of memory: the system refused an allocation; use a smaller micro-batch or more ranks"};
  } catch (const std::filesystem::filesystem_error& error) {
    return {ExitCode::io_error, error.what()};
  } catch (const std::exception& error) {
    return {ExitCode::internal, error.what()};
  } catch (...) {
    return {ExitCode::internal, "an exception of a type that is not derived from std::exception"};
  }
}

}  // namespace charter
