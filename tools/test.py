#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the project's checks part by part and says how long each took (`make test`, `make test-full`).

usage: test.py [--full] [--setup-seconds S] [--corpus DIR] [--fuzz-seconds S]

Parts of `make test`: release build, unit tests and Python tests, address+undefined sanitizer build with the tests and 30
seconds of each fuzz target on the driver of tests/fuzz/driver, lint. --full adds Clang 19, the thread sanitizer, ten minutes
of each fuzz target with libFuzzer, clang-tidy, tests of files of several gigabytes, and the model corpus if there is one.
A part that fails does not stop the others, except that what was not built is not tested. Cases are counted one by one
(GoogleTest, pytest); the last line is `N passed, N failed`, and the exit code is 0 only if nothing failed.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = str(ROOT / ".venv/bin/python")
JOBS = str(os.cpu_count() or 2)


class Report:
    """Seconds and outcome of each part, and the sum of all test cases."""

    def __init__(self):
        self.parts, self.passed, self.failed, self.skipped = [], 0, 0, 0

    def part(self, name, action):
        print(f"\n=== {name}", flush=True)
        start, failed_before = time.monotonic(), self.failed
        ok = action()
        if not ok and self.failed == failed_before:  # a failed build or lint counts as one failed case
            self.failed += 1
        self.parts.append((name, time.monotonic() - start, ok))
        return ok

    def count(self, passed, failed, skipped):
        self.passed, self.failed, self.skipped = self.passed + passed, self.failed + failed, self.skipped + skipped

    def close(self):
        print("\nTime by part")
        for name, seconds, ok in self.parts:
            print(f"  {name:<42} {seconds:7.1f} s  {'' if ok else 'FAILED'}".rstrip())
        print(f"  {'in all':<42} {sum(seconds for _, seconds, _ in self.parts):7.1f} s")
        print(f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else ""))
        return 0 if self.failed == 0 and all(ok for _, _, ok in self.parts) else 1


def call(*command, **environment):
    print("+ " + " ".join(command), flush=True)
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}).returncode


def build(preset, *targets):
    return call("cmake", "--preset", preset, "--log-level=WARNING") == 0 and \
        call("ninja", "-C", f"build/{preset}", "--quiet", "-j", JOBS, *targets) == 0


def junit_counts(path):
    """(passed, failed, skipped) of one JUnit file."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled") or case.get("result") == "skipped":
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def unit_tests(report, preset, *selection, **environment):
    """ctest; a GoogleTest program counts by its cases, any other program, or one that died, as one case."""
    cases = ROOT / f"build/{preset}/test-cases"
    cases.mkdir(parents=True, exist_ok=True)
    for old in cases.glob("*.xml"):
        old.unlink()
    entries = cases / "ctest.xml"
    code = call("ctest", "--test-dir", f"build/{preset}", "--output-on-failure", "-j", JOBS, "--no-tests=error",
                "--output-junit", str(entries), *selection,
                GTEST_OUTPUT=f"xml:{cases}/", ASAN_OPTIONS="detect_leaks=1", UBSAN_OPTIONS="print_stacktrace=1", **environment)
    for entry in ElementTree.parse(entries).iter("testcase") if entries.is_file() else []:
        programs, ok = cases / f"rota_{entry.get('name')}_test.xml", entry.get("status") == "run"
        passed, failed, skipped = junit_counts(programs) if programs.is_file() else (int(ok), 0, 0)
        report.count(passed, failed if ok or failed else 1, skipped)
    return code == 0


def python_tests(report):
    cases = ROOT / "build/release/test-cases/pytest.xml"
    cases.parent.mkdir(parents=True, exist_ok=True)
    cases.unlink(missing_ok=True)
    code = call(PYTHON, "-m", "pytest", "-q", "tests", f"--junitxml={cases}")
    if cases.is_file():
        report.count(*junit_counts(cases))
    return code == 0


def corpus(report, folder):
    """The corpus's own checker; its last line is counted."""
    done = subprocess.Popen([PYTHON, str(folder / "check.py"), str(ROOT / "build/release/bin/rota"), str(folder / "models.tar.xz")],
                            stdout=subprocess.PIPE, text=True)
    last = ""
    for line in done.stdout:
        print(line, end="", flush=True)
        last = line
    match = re.match(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", last)
    if match:
        report.count(*(int(n or 0) for n in match.groups()))
    return done.wait() == 0


def fuzz(report, seconds):
    """Each fuzz target with libFuzzer for so many seconds, as many at once as there are cores, from the seeds in tests/fuzz/NAME/
    and those that the target makes itself. What is found lies in build/fuzz/found-NAME."""
    if not build("fuzz", "rota_fuzzers"):
        return False
    programs = sorted(p for p in (ROOT / "build/fuzz/fuzz").iterdir() if os.access(p, os.X_OK) and p.is_file())

    def one(program):
        corpus, found = ROOT / f"build/fuzz/corpus-{program.name}", ROOT / f"build/fuzz/found-{program.name}"
        for folder in (corpus, found):
            folder.mkdir(exist_ok=True)
        call(str(ROOT / "build/asan/fuzz" / program.name), "--write-seeds", str(corpus))
        seeds, words = ROOT / "tests/fuzz" / program.name, ROOT / "tests/fuzz" / f"{program.name}.dict"
        return call(str(program), f"-max_total_time={seconds}", "-rss_limit_mb=4096", "-timeout=20", "-max_len=65536",
                    "-print_final_stats=0", "-verbosity=0", f"-artifact_prefix={found}/", str(corpus),
                    *([str(seeds)] if seeds.is_dir() else []), *([f"-dict={words}"] if words.is_file() else []),
                    UBSAN_OPTIONS="print_stacktrace=1")

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        codes = list(pool.map(one, programs))
    report.count(codes.count(0), len(codes) - codes.count(0), 0)
    return bool(codes) and not any(codes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--setup-seconds", type=float, default=0.0)
    parser.add_argument("--corpus", default="", help="folder with check.py and models.tar.xz; default ../shared/corpus if there")
    parser.add_argument("--fuzz-seconds", type=int, default=0, help="for each target; default 30, and 600 with libFuzzer in --full")
    arguments = parser.parse_args()
    report = Report()
    report.parts.append(("set-up", arguments.setup_seconds, True))

    if report.part("release build", lambda: build("release")):
        report.part("unit tests", lambda: unit_tests(report, "release"))
        report.part("Python tests", lambda: python_tests(report))
    if report.part("address+undefined sanitizer build", lambda: build("asan", "rota_tests")):
        report.part("unit tests under these sanitizers",
                    lambda: unit_tests(report, "asan", ROTA_FUZZ_SECONDS=str(arguments.fuzz_seconds or 30)))
    lint = [sys.executable, "tools/lint.py", "--headers", "--link", "build/release"]
    if not arguments.full:
        report.part("lint", lambda: call(*lint) == 0)
        return report.close()

    if report.part("Clang 19 build", lambda: build("clang")):
        report.part("unit tests with Clang 19", lambda: unit_tests(report, "clang"))
    report.part("lint, full", lambda: call(*lint, "--format", "all", "--tidy", "build/clang") == 0)
    if report.part("thread sanitizer build", lambda: build("tsan", "rota_tests")):
        report.part("unit tests under the thread sanitizer", lambda: unit_tests(report, "tsan"))
    report.part("model of 6 GB", lambda: call(PYTHON, "-m", "pytest", "-q", "tests/test_files.py", "-k", "huge",
                                              ROTA_TEST_HUGE_GB=os.environ.get("ROTA_TEST_HUGE_GB", "6")) == 0)
    report.part("fuzz targets with libFuzzer", lambda: fuzz(report, arguments.fuzz_seconds or 600))
    folder = Path(arguments.corpus) if arguments.corpus else ROOT.parent / "shared/corpus"
    if (folder / "check.py").is_file():
        report.part("corpus", lambda: corpus(report, folder.resolve()))
    elif arguments.corpus:
        report.part("corpus", lambda: print(f"no check.py in {folder}") is not None)
    else:
        print("\nno corpus here; CORPUS=DIR names one")
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
