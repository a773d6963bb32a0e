// SPDX-License-Identifier: Apache-2.0
// Checks a node against the schema of its operator.
#pragma once

#include "op/definition.h"

namespace rota::op {

/// Number of inputs and outputs, attribute names and types, blocks, and dtypes that must agree; the first violation is the error.
Status checkFormals(const ir::Node& node, const Definition& definition);

}  // namespace rota::op
