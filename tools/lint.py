#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the compiler does not: layering, sizes, headers, forbidden words, formatting, what the lean runtime links.

usage: lint.py [--format all|changed|none] [--headers] [--link BUILD] [--tidy BUILD] [FILE...]

Without files it reads every source that git knows or could add. The table of allowed includes is not here: it is
cmake/components.cmake, which the build uses too. Each finding is one line, FILE:LINE: what is wrong. The exit code is 1 if
there is any. Soft limits are counted in the last line but are no findings.

A file whose rows make it long (a table) says so with a line `// lint: table`; it is exempt from the size limits.
Tested by tests/test_lint.py.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

CPP = (".h", ".cpp", ".cu", ".cuh")
FILE_SOFT, FILE_HARD = 500, 1000
FUNCTION_SOFT, FUNCTION_HARD = 60, 120
PUBLIC_HEADER_HARD = 250
COMPILER = os.environ.get("CXX", "g++")

# Headers that cost every includer a second or more: sources may use them, headers may not (but those of the program, whose
# sources all need them anyway).
HEAVY = re.compile(r"<(iostream|regex|filesystem|future|nlohmann/.*|spdlog/.*|fmt/.*|CLI/.*)>")

# (pattern, files it is allowed in, message); matched against code without comments and literals.
FORBIDDEN = [
    (re.compile(r"\b(secure_)?getenv\b"), re.compile(r"^src/(knob/|core/env)"),
     "getenv outside src/knob and src/core/env*: read it through them"),
    # Allowed: placement, and handing an object with a private constructor straight to its owner.
    (re.compile(r"^(?!.*_ptr<[^;]*\(new\b).*\bnew\b(?!\s*\()"), re.compile(r"^$"), "raw new: use std::make_unique or a container"),
    (re.compile(r"(?<!=)\s\bdelete\b(\[\])?\s+[\w*(]"), re.compile(r"^$"), "raw delete: use std::unique_ptr"),
    (re.compile(r"\b(malloc|calloc|realloc)\s*\("), re.compile(r"^src/core/"), "C allocation outside src/core"),
    (re.compile(r"\busing namespace std\b"), re.compile(r"^$"), "using namespace std"),
]
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|farm|root|home)/\w")

# What librota_runtime may need, and what it must never carry or call.
RUNTIME_NEEDED = re.compile(r"^(librota_runtime|libstdc\+\+|libgcc_s|libc|libm|libdl|libpthread|librt|ld-linux[\w-]*"
                            r"|libxxhash|libfmt|libspdlog|libasan|libubsan|libtsan)\.so")
RUNTIME_SYMBOLS = re.compile(r"google::protobuf|protozero::|llvm::|LLVM[A-Z]\w+|nvrtc|dnnl|nlohmann::|CLI::")


class Findings:
    def __init__(self):
        self.lines, self.soft = [], []

    def add(self, path, line, text):
        self.lines.append(f"{path}:{line}: {text}")


# --- Components -------------------------------------------------------------------------------------------------------

class Component:
    def __init__(self, name, arguments):
        self.name = name
        words = dict(FOLDER=name, ONLY=None, EXCEPT=None, TESTS=None, DEPENDS=[])
        key = None
        for word in arguments:
            if word in ("FOLDER", "ONLY", "EXCEPT", "SOURCES_EXCEPT", "LIBRARY", "TESTS", "LABEL", "DEPENDS", "UNITY"):
                key = word
            elif key == "DEPENDS":
                words["DEPENDS"].append(word)
            elif key:
                words[key] = word.strip('"').replace("\\\\", "\\")
        self.folder = "src/" + words["FOLDER"] + "/"
        self.only, self.excluded, self.depends = words["ONLY"], words["EXCEPT"], words["DEPENDS"]
        self.shared_tests = words["TESTS"] == "shared"

    def holds(self, path):
        if not path.startswith(self.folder):
            return False
        inside = path[len(self.folder):]
        if inside == "main.cpp":
            return True
        return not (self.only and not re.search(self.only, inside)) and not (self.excluded and re.search(self.excluded, inside))


def read_components(root):
    text = re.sub(r"#.*", "", (root / "cmake/components.cmake").read_text())
    components = {}
    for call in re.finditer(r'rota_component\(((?:"[^"]*"|[^)"])*)\)', text):
        words = re.findall(r'"[^"]*"|\S+', call.group(1))
        components[words[0]] = Component(words[0], words[1:])
    for component in components.values():
        reach, todo = set(), [component.name]
        while todo:
            name = todo.pop()
            if name not in reach:
                reach.add(name)
                todo += components[name].depends
        component.reach = reach
    return components


def component_of(path, components):
    if path.startswith("src/engine/schema/"):
        return components.get("engine")
    fitting = [c for c in components.values() if c.holds(path)]
    return max(fitting, key=lambda c: len(c.folder)) if fitting else None


# --- Text -------------------------------------------------------------------------------------------------------------

TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def code_only(text):
    """The text with comments and literals blanked, line numbers kept."""
    def blank(match):
        token = match.group(0)
        if token[0] == "'" and text[match.start() - 1:match.start()].isalnum():  # 1'000: a digit separator
            return token
        filler = "" if token.startswith("/") else '""'
        return filler + "\n" * token.count("\n")
    return TOKENS.sub(blank, text)


FUNCTION_START = re.compile(r"^( {0,2})(?!namespace|class|struct|enum|union|if\b|for\b|while\b|switch\b|else|do\b|try\b|\})"
                            r"\S.*[)\w>]\s*\{$|^( {0,2})\}?\s*(?:const|noexcept|override)\s*\{$")


def function_lengths(lines):
    """(first line, length) of each function, by the indentation that clang-format gives: a body ends at the first
    closing brace in the column of its first line. Wrapped signatures count from the line with the brace."""
    start = None
    for number, line in enumerate(lines, 1):
        match = FUNCTION_START.match(line)
        if match and start is None and "(" in "".join(lines[max(0, number - 6):number]) and not line.rstrip().endswith("= {"):
            start, indent = number, match.group(1) or match.group(2) or ""
        elif start is not None and line.startswith(indent + "}"):
            yield start, number - start + 1
            start = None


# --- Checks -----------------------------------------------------------------------------------------------------------

def check_sizes(path, text, findings):
    if "// lint: table" in text:
        return
    lines = text.splitlines()
    hard = PUBLIC_HEADER_HARD if path.startswith("include/") else FILE_HARD
    if len(lines) > hard:
        findings.add(path, len(lines), f"{len(lines)} lines; the limit is {hard}: split by the one thing a file defines")
    elif len(lines) > FILE_SOFT:
        findings.soft.append(f"{path}: {len(lines)} lines")
    if path.endswith(CPP):
        for start, length in function_lengths(code_only(text).splitlines()):
            if length > FUNCTION_HARD:
                findings.add(path, start, f"function of {length} lines; the limit is {FUNCTION_HARD}")
            elif length > FUNCTION_SOFT:
                findings.soft.append(f"{path}:{start}: function of {length} lines")


def check_opening(path, text, findings):
    lines = text.splitlines() + ["", ""]
    first = 1 if lines[0].startswith("#!") else 0
    if "SPDX-License-Identifier: Apache-2.0" not in lines[first]:
        findings.add(path, 1, "no SPDX line: `SPDX-License-Identifier: Apache-2.0` first")
    if not path.endswith(CPP):
        return
    comment = 0
    while comment + 1 < len(lines) and lines[comment + 1].startswith("//"):
        comment += 1
    # A source may leave its idea to the header that it implements, which it includes first.
    first_include = re.search(r"^#include .*", text, re.M)
    implements = path.endswith(".cpp") and first_include and re.match(r'#include ("|<rota/)', first_include.group(0))
    if comment == 0 and not implements and not path.endswith("_test.cpp"):
        findings.add(path, 2, "no comment on the file's idea below the SPDX line")
    if path.endswith(".h") and "#pragma once" not in text:
        findings.add(path, 1, "no #pragma once")


def check_includes(path, text, root, components, findings):
    here = component_of(path, components)
    if path.startswith("src/") and here is None:
        findings.add(path, 1, "belongs to no component of cmake/components.cmake")
        return
    free = path.endswith("_test.cpp") and here is not None and here.shared_tests
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if not match:
            continue
        quoted, target = match.group(1) == '"', match.group(2)
        if path.endswith(".h") and not path.startswith("src/cli/") and HEAVY.match(f"<{target}>"):
            findings.add(path, number, f"<{target}> in a header: too slow to compile for every includer")
        if path.startswith(("include/", "examples/")) and quoted:
            findings.add(path, number, f'"{target}": public headers and examples include only <rota/...> and the standard library')
        if path.startswith("include/") and not re.match(r"rota/|[a-z_0-9]+$", target):
            findings.add(path, number, f"<{target}>: a public header includes only <rota/...> and the standard library")
        if not path.startswith("src/") or not quoted:
            continue
        generated = target.startswith("engine/schema/") and target.endswith("_generated.h")
        if not generated and not (root / "src" / target).is_file():
            findings.add(path, number, f'"{target}" is no file below src/: quoted includes are relative to src/')
            continue
        there = component_of("src/" + target, components)
        if there is None or free or there.name in here.reach:
            continue
        findings.add(path, number, f'"{target}": {here.name} may not include {there.name} (cmake/components.cmake)')


def check_words(path, text, findings):
    if path == "tools/lint.py" or path == "tests/test_lint.py":
        return
    for number, line in enumerate(text.splitlines(), 1):
        if UNFINISHED.search(line):
            findings.add(path, number, f"{UNFINISHED.search(line).group(0)}: finish it or file an issue")
        if MACHINE_PATH.search(line):
            findings.add(path, number, "path of one machine")
    if not path.startswith(("src/", "include/", "examples/")) or path.endswith("_test.cpp"):
        return
    for number, line in enumerate(code_only(text).splitlines(), 1):
        for pattern, allowed, message in FORBIDDEN:
            if pattern.search(line) and not allowed.search(path) and not line.lstrip().startswith("#"):
                findings.add(path, number, message)


def check_file(path, root, components, findings):
    text = (root / path).read_text(errors="replace")
    check_opening(path, text, findings)
    check_words(path, text, findings)
    check_sizes(path, text, findings)
    if path.endswith(CPP):
        check_includes(path, text, root, components, findings)


def run_all(command_of, items, finish=None):
    """Runs one command an item, as many at once as there are cores: (item, exit code, output); `finish` gets each as it ends."""
    def one(item):
        done = subprocess.run(command_of(item), capture_output=True, text=True)
        result = item, done.returncode, done.stdout + done.stderr
        if finish:
            finish(*result)
        return result
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, items))


def check_format(paths, findings):
    for path, code, output in run_all(lambda p: ["clang-format-19", "--dry-run", "-Werror", p], [p for p in paths if p.endswith(CPP)]):
        if code:
            match = re.search(r":(\d+):\d+: error", output)
            findings.add(path, match.group(1) if match else 1, "not formatted: make format")


def check_headers_alone(paths, findings):
    headers = [p for p in paths if p.startswith("include/")]
    command = lambda p: [COMPILER, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror",
                         "-Iinclude", "-include", p, "-x", "c++", "/dev/null"]
    for path, code, output in run_all(command, headers):
        if code:
            findings.add(path, 1, "does not compile alone: " + output.strip().splitlines()[0])


def included_files(path, known):
    """The project's files that a source includes, directly or not, with the source itself."""
    if path not in known:
        known[path] = {path}
        for name in re.findall(r'^#include ["<]([^">]+)[">]', Path(path).read_text(errors="replace"), re.M):
            for candidate in (f"src/{name}", f"include/{name}", os.path.relpath(name) if name.startswith("/") else ""):
                if os.path.isfile(candidate):
                    known[path] |= included_files(candidate, known)
    return known[path]


def check_tidy(build, findings):
    """clang-tidy over what a build compiles into the program and the libraries, batches as batches. What was clean is not
    read again until it, a header that it includes or the checks change."""
    clean, known, marks = Path(build) / "tidy-clean", {}, {}
    clean.mkdir(exist_ok=True)
    for entry in json.loads((Path(build) / "compile_commands.json").read_text()):
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]))
        if not (path.startswith("src/") or "/Unity/" in path) or path.endswith("_test.cpp"):
            continue
        digest = hashlib.sha256(Path(".clang-tidy").read_bytes())
        for name in sorted(included_files(path, known)):
            digest.update(name.encode() + Path(name).read_bytes())
        marks[path] = clean / digest.hexdigest()

    def finish(path, code, output):
        seen, before = set(), len(findings.lines)
        for line in output.splitlines():
            match = re.match(r"(.*?):(\d+):\d+: (?:warning|error): (.*)", line)
            if match and line not in seen:
                seen.add(line)
                if not os.path.relpath(match.group(1)).startswith(str(build)):  # a batch includes sources, and is not ours
                    findings.add(os.path.relpath(match.group(1)), match.group(2), match.group(3))
        if code and not seen:
            findings.add(path, 1, "clang-tidy failed: " + (output.strip().splitlines() or ["no message"])[-1])
        if len(findings.lines) == before:
            marks[path].touch()

    run_all(lambda p: ["clang-tidy-19", "--quiet", "-p", build, p], [p for p in marks if not marks[p].exists()], finish)


def check_link(build, findings):
    """The lean runtime's needs and symbols, and what the wider vector kernels share with other code."""
    library = Path(build) / "lib/librota_runtime.so"
    if not library.is_file():
        findings.add(library, 0, "not built")
        return
    output = lambda *command: subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", str(library))):
        if not RUNTIME_NEEDED.match(name):
            findings.add(library, 0, f"needs {name}: the lean runtime must not")
    for line in output("nm", "-D", "-C", str(library)).splitlines():
        match = RUNTIME_SYMBOLS.search(line)
        if match:
            findings.add(library, 0, f"symbol of {match.group(0)}: {line.strip()}")
    # An inline function compiled with AVX-512 flags and merged by the linker with the one of plain code would run
    # everywhere. So wide objects may define no weak symbol outside their own namespace.
    for variant in ("v1", "v2", "v3", "v4"):
        for item in sorted((Path(build) / f"CMakeFiles/rota_simd_{variant}.dir").rglob("*.o")):
            for line in output("nm", "-C", "--defined-only", str(item)).splitlines():
                match = re.match(r"[0-9a-f]* ([WVu]) (.*)", line)
                if match and not re.search(rf"\b{variant}::|^DW\.ref", match.group(2)):
                    findings.add(item, 0, f"shares {match.group(2)} with code for plain machines: keep it out of the kernels")


# --- Main -------------------------------------------------------------------------------------------------------------

def git(*arguments):
    done = subprocess.run(["git", *arguments], capture_output=True, text=True)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else None


def all_files():
    names = git("ls-files", "--cached", "--others", "--exclude-standard") or []
    suffixes = CPP + (".py", ".sh", ".cmake", ".fbs")
    return [n for n in names if (n.endswith(suffixes) or n.endswith("CMakeLists.txt")) and os.path.isfile(n)]


def changed_files():
    """What differs from the branch point with origin/main; on origin/main itself, from the commit before."""
    base = (git("merge-base", "HEAD", "origin/main") or [None])[0]
    if base is None or base == (git("rev-parse", "HEAD") or [None])[0]:
        base = "HEAD~1"
    changed = git("diff", "--name-only", base)
    if changed is None:  # a first commit has nothing before it
        return all_files()
    return [n for n in changed + (git("ls-files", "--others", "--exclude-standard") or []) if os.path.isfile(n)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--format", choices=("all", "changed", "none"), default="changed", help="what clang-format checks")
    parser.add_argument("--headers", action="store_true", help="compile each public header alone")
    parser.add_argument("--link", metavar="BUILD", help="check the link contents of a build folder")
    parser.add_argument("--tidy", metavar="BUILD", help="run clang-tidy with the compile commands of a build folder")
    arguments = parser.parse_args()
    os.chdir(Path(__file__).resolve().parent.parent)

    root, findings = Path("."), Findings()
    files = arguments.files or all_files()
    components = read_components(root)
    for path in files:
        check_file(path, root, components, findings)
    if arguments.format != "none":
        check_format(files if arguments.format == "all" or arguments.files else changed_files(), findings)
    if arguments.headers:
        check_headers_alone(files, findings)
    if arguments.link:
        check_link(arguments.link, findings)
    if arguments.tidy:
        check_tidy(arguments.tidy, findings)

    for line in findings.lines:
        print(line)
    print(f"lint: {len(files)} files, {len(findings.lines)} findings, {len(findings.soft)} above a soft limit")
    return 1 if findings.lines else 0


if __name__ == "__main__":
    sys.exit(main())
