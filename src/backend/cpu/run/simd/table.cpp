// SPDX-License-Identifier: Apache-2.0
// The kernel table of one instruction set. Tested by src/backend/cpu/run/simd_test.cpp.
#include "backend/cpu/run/simd/parts.h"

namespace rota::simd::ROTA_SIMD_NAMESPACE {

#define ROTA_TEXT_OF(x) #x
#define ROTA_TEXT(x) ROTA_TEXT_OF(x)

const Kernels& table() {
  static const Kernels instance = [] {
    Kernels t{};
    t.name = ROTA_TEXT(ROTA_SIMD_NAMESPACE);
    fillMap(t);
    fillRows(t);
    fillProducts(t);
    fillPosts(t);
    return t;
  }();
  return instance;
}

}  // namespace rota::simd::ROTA_SIMD_NAMESPACE
