#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run-tests.t - the runner of installed tests finds the right word for what a test did

# shellcheck source=tests/hygiene/lib.sh
. "$(dirname "$0")/lib.sh"

run_tests=$PWD/tests/run-tests

a_test() { # NAME; the program on stdin
    { echo '#!/bin/sh' && cat; } >"$scratch/$1"
    chmod +x "$scratch/$1"
}

# runs STATUS PATTERN TEST...: the runner's exit status, and what it says
# shellcheck disable=SC2317 # called through ok
runs() {
    local expected=$1 pattern=$2 output status=0
    shift 2
    output=$("$run_tests" --timeout 2 --junit "$scratch/junit.xml" "${@/#/$scratch/}" 2>&1) || status=$?
    echo "status $status: $output"
    [ $status = "$expected" ] && [[ $output =~ $pattern ]]
}

a_test good <<<'echo "ok 1 - a"; echo "ok 2 - b"; echo 1..2'
a_test with-todo <<<'echo 1..2; echo "not ok 1 - a # TODO later"; echo "ok 2 # SKIP no b here"'
a_test skips <<<'echo "1..0 # SKIP no Xen here"'
a_test fails <<<'echo "ok 1 - a"; echo "not ok 2 - b < c & \"d\""; echo 1..2; exit 1'
a_test bails <<<'echo "ok 1 - a"; echo "Bail out! no disk"; exit 1'
a_test no-plan <<<'echo "ok 1 - a"'
a_test short-plan <<<'echo "ok 1 - a"; echo 1..2'
a_test silent <<<':'
a_test bad-status <<<'echo "ok 1 - a"; echo 1..1; exit 7'
a_test slow <<<'echo "ok 1 - a"; exec sleep 60'
a_test dies <<<'echo "ok 1 - a"; kill -SEGV $$'

ok "a test whose points hold" runs 0 "good +SUCCESS" good
ok "points that are expected to fail, or skip" runs 0 "SUCCESS" with-todo
ok "a test that cannot run here" runs 3 "SKIP \(no Xen here\)" skips
ok "a point that does not hold" runs 5 "FAILURE \(1 of 2 points, first: b" fails
ok "a test that bails out" runs 4 "ERROR \(Bail out! no disk\)" bails
ok "one without a plan" runs 4 "ERROR \(no plan\)" no-plan
ok "one that has fewer points than planned" runs 4 "ERROR \(2 points were planned, 1 came\)" short-plan
ok "one that says nothing" runs 4 "ERROR \(no plan\)" silent
ok "one whose status says that something is wrong" runs 4 "ERROR \(exit status 7\)" bad-status
ok "one that takes too long" runs 4 "ERROR \(not done after 2 seconds\)" slow
ok "one that a signal ends" runs 6 "CRASH \(ended by signal 11\)" dies
ok "of many, the worst counts" runs 6 "SUCCESS.*SKIP.*CRASH.*FAILURE" good skips dies fails
if command -v python3 >/dev/null; then
    ok "and JUnit has them all" python3 - "$scratch/junit.xml" <<'END'
import sys, xml.etree.ElementTree as tree
suites = {suite.get("name"): suite for suite in tree.parse(sys.argv[1]).getroot()}
assert sorted(suites) == ["dies", "fails", "good", "skips"], suites
assert len(suites["good"]) == 2
assert suites["fails"].get("failures") == "1"
assert suites["fails"][1].get("name") == 'b < c & "d"'
assert suites["dies"].get("errors") == "1"
assert suites["skips"].get("skipped") == "1"
for suite in suites.values():
    assert int(suite.get("tests")) == len(suite), suite.attrib
END
fi
fails "a test that is not there" "no program" "$run_tests" "$scratch/nowhere"
fails "a wrong option" "usage:" "$run_tests" --wrong
fails "a wrong limit" "not a number" "$run_tests" --timeout soon
done_testing
