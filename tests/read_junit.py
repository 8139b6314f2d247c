"""read_junit.py FILE WORDS: "PASSED FAILED" from what pytest --junitxml wrote, then the name of each that failed, one a line.
Why each failed is appended to WORDS. Used by tests/run."""

import sys
import xml.etree.ElementTree as xml

LINES = 40  # of each failure: its end is where the reason stands

suites = list(xml.parse(sys.argv[1]).getroot().iter("testsuite"))
total = wrong = skipped = 0
for suite in suites:
    total += int(suite.get("tests", 0))
    wrong += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    skipped += int(suite.get("skipped", 0))
print(total - wrong - skipped, wrong)
with open(sys.argv[2], "a", encoding="utf-8") as words:
    for case in (case for suite in suites for case in suite.iter("testcase")):
        reasons = case.findall("failure") + case.findall("error")
        if reasons:
            name = f"{case.get('classname')}.{case.get('name')}"
            print(name)
            said = "\n".join(reason.text or reason.get("message", "") for reason in reasons).splitlines()
            words.write("\n".join([f"--- {name}, again", *(line[:600] for line in said[-LINES:]), ""]))
