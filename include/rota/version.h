// SPDX-License-Identifier: Apache-2.0
// The version of Rota.
#pragma once

namespace rota {

/// "major.minor.patch" of the library in use.
const char* version();

}  // namespace rota
