"""read_junit.py FILE: "PASSED FAILED" from what pytest --junitxml wrote. Used by tests/run."""

import sys
import xml.etree.ElementTree as xml

suites = xml.parse(sys.argv[1]).getroot().iter("testsuite")
total = wrong = skipped = 0
for suite in suites:
    total += int(suite.get("tests", 0))
    wrong += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    skipped += int(suite.get("skipped", 0))
print(total - wrong - skipped, wrong)
