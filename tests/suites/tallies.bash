# tallies.bash: runs ctest and pytest, counts what passed and failed, and keeps the words of what failed for the end
# shellcheck shell=bash

passed=0
failed=0
failures=() # their names: told again at the end, after their words
words=build-asan/results/failed.words
pytest_limit_s=2400 # of the whole: what hangs must not hang it. Four times what it takes, because some machines are slow
programs=           # the build whose programs pytest's tests start, where it is not build-asan
python=/usr/bin/python3 # Debian's: its packages are the ones in tests/packages.test

count() { # count PASSED FAILED
	passed=$((passed + $1))
	failed=$((failed + $2))
}

# The end of a long record is what is read first: what failed says there again why.
keep_words() { # keep_words NAME, of what is read
	{
		printf -- '--- %s, again\n' "$1"
		tail -n 40 | cut -c -600
	} >>"$words"
}

fail_one() {
	say "FAILED $*"
	failures+=("$*")
	count 0 1
}

# Adds what a suite's own tally says ("PASSED FAILED" in a file, then a line for each that failed); a suite without a test has failed.
count_tally() { # count_tally SUITE FILE
	local ok=0 bad=0 names
	if [ -f "$2" ]; then
		read -r ok bad <"$2"
		mapfile -t names < <(tail -n +2 "$2" | sed "s/^/$1: /")
		failures+=("${names[@]}")
	fi
	if [ $((ok + bad)) -eq 0 ]; then
		fail_one "$1: it ran no test"
		return
	fi
	count "$ok" "$bad"
	say "$1: $ok passed, $bad failed"
}

# What a process told its sanitizer is a failure, also where the test looked away.
count_sanitizer_reports() { # count_sanitizer_reports SUITE FOLDER
	local report
	for report in "$2"/sanitizer.*; do
		[ -f "$report" ] || continue
		head -n 60 "$report" | tee >(keep_words "$report")
		fail_one "$1: a process was stopped by its sanitizer, see $report"
	done
}

run_ctest() { # run_ctest SUITE BUILD PATTERN [ctest argument ...]
	local suite=$1 folder=$2 pattern=$3 tally
	shift 3
	tally=$root/build-asan/results/$suite.tally
	rm -f "$tally"
	mkdir -p "$root/build-asan/results"
	say "--- $suite"
	ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1 \
		TSAN_OPTIONS=halt_on_error=1:suppressions=$root/tests/thread.suppressions \
		ctest --test-dir "$folder" --output-junit "$root/build-asan/results/$suite.xml" -V -j "$side_by_side" --timeout 300 -R "$pattern" "$@" 2>&1 |
		awk -W interactive -v tally="$tally" -v words="$words" -f "$root/tests/read_ctest.awk"
	count_tally "$suite" "$tally"
}

# A shell that runs this in the background has it ignore Ctrl-C, and so would every program that a test starts and means to interrupt.
run_pytest() { # run_pytest SUITE "FOLDER ..." [pytest argument ...]
	local suite=$1 results=$root/build-asan/results/$1 folders limit=() ended
	read -r -a folders <<<"$2"
	shift 2
	[ -n "$whole" ] && limit=(timeout --signal=INT "$pytest_limit_s") # what hangs must not hang the whole; a bout by hand may
	rm -rf "$results" "$results.xml" "$results.tally"
	mkdir -p "$results"
	say "--- $suite"
	CARTBUS_BUILD=${programs:-$root/build-asan} CARTBUS_RESULTS=$results PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
		LSAN_OPTIONS=print_suppressions=0:suppressions=$root/tests/leak.suppressions \
		ASAN_OPTIONS=handle_abort=1:log_path=$results/sanitizer UBSAN_OPTIONS=print_stacktrace=1:log_path=$results/sanitizer \
		"${limit[@]}" env --default-signal=INT $python -m pytest -v -p no:cacheprovider --tb=short --junitxml="$results.xml" "${folders[@]}" "$@"
	ended=$?
	[ "$ended" -le 1 ] || fail_one "$suite: pytest did not come to its end (exit code $ended; 124 is $pytest_limit_s s over)"
	[ ! -f "$results.xml" ] || $python tests/read_junit.py "$results.xml" "$words" >"$results.tally" || rm -f "$results.tally"
	count_tally "$suite" "$results.tally"
	count_sanitizer_reports "$suite" "$results"
}
