// SPDX-License-Identifier: Apache-2.0
#include <rota/version.h>

namespace rota {

const char* version() { return ROTA_VERSION; }

}  // namespace rota
