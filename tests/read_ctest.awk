# read_ctest.awk: one line per promise from `ctest -V`, and in files the tally with the names of what failed, and why it failed (words)
#
# ctest starts each line of a program's output with the test's number, and cmocka tells each promise with
# "[       OK ] name" or "[  FAILED  ] name". A program that says neither (another kind of test) counts as one; one that fails
# although each of its promises was kept (a crash, a leak) counts as one failure more, and one whose promises were all skipped
# has failed. Used by tests/run; tests/lint/tallies proves it.

function tell(word, text) {
	if (word == "FAILED")
		failures = failures text "\n"
	print word " " text
	fflush()
}

function last_lines(text, most,    lines, count, i, said) {
	count = split(text, lines, "\n")
	for (i = count > most ? count - most : 1; i <= count; i++)
		said = said lines[i] "\n"
	return said
}

match($0, /^ *Start +[0-9]+: /) {
	number = $2 + 0
	name[number] = $3
	next
}

match($0, /^[0-9]+: /) {
	number = substr($0, 1, RLENGTH - 2) + 0
	line = substr($0, RLENGTH + 1)
	if (line ~ /^(Test command|Working Directory|Test timeout computed to be|Environment variables): ?/)
		next
	output[number] = output[number] line "\n"
	if (match(line, /^\[ +OK +\] /)) {
		kept[number]++
		tell("passed", name[number] ": " substr(line, RLENGTH + 1))
	} else if (match(line, /^\[  FAILED  \] /)) {
		promise = substr(line, RLENGTH + 1)
		if (promise !~ /listed below:$/ && promise !~ /^[0-9]+ FAILED/ && !((number, promise) in broken)) {
			broken[number, promise] = 1
			lost[number]++
			tell("FAILED", name[number] ": " promise)
		}
	} else if (match(line, /^\[  SKIPPED +\] /) && line !~ /listed below:$/ && !((number, line) in skipped)) {
		skipped[number, line] = 1
		put_off[number]++
		tell("skipped", name[number] ": " substr(line, RLENGTH + 1))
	}
	next
}

# " 3/11 Test  #3: unit.base.config .................   Passed    0.02 sec"
match($0, /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /) {
	head = substr($0, 1, RLENGTH)
	sub(/.*#/, "", head)
	number = head + 0
	fine = ($0 ~ /   Passed +[0-9.]+ sec/)
	if (fine && !kept[number] && !lost[number] && put_off[number]) {
		lost[number] = 1
		tell("FAILED", name[number] ": each of its promises was skipped")
	} else if (fine && !kept[number] && !lost[number]) {
		kept[number] = 1
		tell("passed", name[number])
	}
	if (!fine) {
		printf "%s", output[number]
		if (words)
			printf "--- %s, again\n%s", name[number], last_lines(output[number], 40) >> words
		if (!lost[number]) {
			lost[number] = 1
			tell("FAILED", name[number] ": the program ended badly" ($0 ~ /Timeout/ ? " (it ran out of time)" : ""))
		}
	}
	sub(/ Test.*/, "")
	tell("   ", $0 " " name[number])
	delete output[number]
	next
}

END {
	for (number in name) {
		if (!kept[number] && !lost[number])
			lost[number] = 1
		passed += kept[number]
		failed += lost[number]
	}
	print passed + 0, failed + 0 > tally
	printf "%s", failures > tally
}
