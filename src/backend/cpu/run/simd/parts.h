// SPDX-License-Identifier: Apache-2.0
// What the files of this folder give to the kernel table; table.cpp puts it together.
#pragma once

#include "backend/cpu/run/kernel_table.h"

namespace rota::simd::ROTA_SIMD_NAMESPACE {

void fillMap(Kernels& table);       // pointwise.cpp
void fillRows(Kernels& table);      // rows.cpp
void fillProducts(Kernels& table);  // product.cpp
void fillPosts(Kernels& table);     // post.cpp
const Kernels& table();             // table.cpp

}  // namespace rota::simd::ROTA_SIMD_NAMESPACE
