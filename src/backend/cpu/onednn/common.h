// SPDX-License-Identifier: Apache-2.0
// What the oneDNN steps share: one engine, memory descriptors from our layouts, errors, post-operations, and single-threaded execution inside our pool.
//
// oneDNN runs on one thread per call (decision N17): the OpenMP setting of the calling thread is narrowed for the call and put back. Primitives are
// created in `prepare`; `run` only executes them, with scratch memory that the runtime has booked.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "runtime/step_kernel.h"

namespace rota::onednn {

dnnl::engine& cpuEngine();

/// Narrows OpenMP of this thread to one thread while it lives.
class SingleThread {
 public:
  SingleThread();
  ~SingleThread();
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  int before_;
};

/// The descriptor of float32 data of these dims in this layout.
dnnl::memory::desc descriptor(Dims dims, const runtime::Layout& layout);

/// A post-operation as the tactic wrote it into the step: "relu", "gelu_erf", "clip:0:6", "add" (takes the next extra input) …
struct PostOperation {
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  float alpha = 0;
  float beta = 0;
  bool isBinary = false;
};
Result<std::vector<PostOperation>> parsePostOperations(const Attributes& parameters);

/// Runs `f`, turning oneDNN's exceptions into a Status.
template <typename F> Status guarded(const char* what, const F& f) {
  try {
    return f();
  } catch (const dnnl::error& e) {
    const bool memory = e.status == dnnl_out_of_memory;
    return Status(memory ? ErrorCode::kOutOfMemory : ErrorCode::kInternal,
                  std::string("oneDNN refused ") + what)
        .found(e.what());
  }
}

}  // namespace rota::onednn
