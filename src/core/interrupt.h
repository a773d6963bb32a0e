// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM. The first one sets a flag that long work polls, so that it can save what it has; the second one ends the process
// at once. If the work has not ended within the grace period after the first one, the process ends too, with exit code 5; files that were
// being written go away with it. Only a program installs the handlers; inside a library they belong to the caller, and the flag is never set.
// Tested by src/core/interrupt_test.cpp.
#pragma once

#include <string>

#include <rota/status.h>

namespace rota {

/// Handles SIGINT and SIGTERM as above. A signal that the parent process ignores (nohup, background jobs) stays ignored.
void installInterruptHandlers();

/// Whether a first signal has come. Cheap enough for inner loops of a search.
bool interrupted();

/// kInterrupted once a first signal has come.
Status checkInterrupted();

/// A forced end removes the file (or empty folder) at `path` until `keepWhenForced` says that it is finished. A few at once; further ones are left alone.
void removeWhenForced(const std::string& path);
void keepWhenForced(const std::string& path);

/// Sets or clears the flag without a signal: for tests and for callers that stop work by themselves.
void setInterrupted(bool value);

}  // namespace rota
