# inside.bash: the suites that ask functions: checks of the tree, models, unit and service tests, fuzzing
# shellcheck shell=bash

suite_lint() {
	local check checks=("$@") out ok=0 bad=0
	say "--- lint"
	if [ ${#checks[@]} -eq 0 ]; then
		mapfile -t checks < <(find tests/lint -maxdepth 1 -type f -perm -u+x -printf '%f\n' | sort)
	fi
	[ ${#checks[@]} -gt 0 ] || fail_one "lint: there is no check in tests/lint"
	build_programs || fail_one "lint: the headers cannot be held against a build that fails"
	for check in "${checks[@]}"; do
		for mode in --prove ""; do
			# shellcheck disable=SC2086
			if out=$("tests/lint/$check" $mode 2>&1); then
				say "passed lint.$check ${mode:+(it can fail)}"
				ok=$((ok + 1))
			else
				[ -z "$out" ] || say "$out" | tee >(keep_words "lint.$check")
				say "FAILED lint.$check ${mode:+(it cannot fail)}"
				failures+=("lint.$check${mode:+ (it cannot fail)}")
				bad=$((bad + 1))
			fi
		done
	done
	count "$ok" "$bad"
	say "lint: $ok passed, $bad failed"
}

suite_model() {
	local tally=$root/build-asan/results/model.tally
	mkdir -p "$root/build-asan/results"
	rm -f "$tally"
	say "--- model"
	tests/model/check --tally "$tally" "$@"
	count_tally model "$tally"
}

suite_unit() {
	build_asan || { fail_one "unit: build-asan does not build" && return; }
	run_ctest unit build-asan '^unit\.' "$@"
}

suite_service() {
	build_asan || { fail_one "service: build-asan does not build" && return; }
	run_ctest service build-asan '^service\.' "$@"
}

suite_inside() {
	build_asan || { fail_one "inside: build-asan does not build" && return; }
	run_ctest inside build-asan '^(unit|service)\.'
}

suite_release() {
	build_release || { fail_one "release: build does not build" && return; }
	# the tests with high numbers look for wrong indices, which the sanitizers of build-asan notice better
	run_ctest release build '^(unit|service)\.' -LE far "$@"
}

suite_clang() {
	say "--- clang"
	# it makes nothing but the sources that are made, and links nothing: that it can is shown by fuzz
	if build build-clang -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -- made_sources &&
		$python tests/compile_check.py build-clang "$jobs"; then
		say "passed clang: every file compiles"
		count 1 0
	else
		fail_one "clang: the tree does not compile"
	fi
}

suite_thread() {
	build build-tsan -DCMAKE_BUILD_TYPE=Debug -DCARTBUS_SANITIZE=thread -- \
		tests/unit/{base,store,wire,actor}/all test_broker_{accept,commit,sync,erase} ||
		{ fail_one "thread: build-tsan does not build" && return; }
	# what has threads of its own; a broker without its committer, and a simulation, have none
	# a fork of a process with threads, which is how some tests crash a store, is more than this sanitizer can follow
	run_ctest thread build-tsan '^unit\.(base|store|wire|actor)\.|^unit\.broker\.(accept|commit|sync|erase)' -E '^unit\.actor\.sim' -LE 'forks|far' "$@"
}

fuzz_one() { # fuzz_one PROGRAM SECONDS
	local name=${1##*/} corpus log longest=()
	corpus=tests/fuzz/corpus/${name#fuzz_}
	case $name in fuzz_feedback | fuzz_lmtp) longest=(-max_len=1048577) ;; esac # as long as mails are
	log=build-fuzz/$name.log
	mkdir -p "build-fuzz/found/$name"
	if "$1" -max_total_time="$2" -timeout=10 -rss_limit_mb=2048 -artifact_prefix=build-fuzz/ "${longest[@]}" "build-fuzz/found/$name" "$corpus" \
		>"$log" 2>&1; then
		say "passed $name ($(grep -oE 'Done [0-9]+ runs' "$log"), corpus $(find "$corpus" -type f | wc -l))"
		return 0
	fi
	tail -n 40 "$log" | tee >(keep_words "$name")
	say "FAILED $name"
	return 1
}

suite_fuzz() {
	local seconds=${1:-2} target running=() ok=0 bad=0
	say "--- fuzz"
	rm -f build-fuzz/bin/fuzz_*
	build build-fuzz -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -DCARTBUS_SANITIZE=address -DCARTBUS_FUZZ=ON \
		-DCMAKE_C_FLAGS=-fsanitize=fuzzer-no-link -- fuzz_targets || { fail_one "fuzz: build-fuzz does not build" && return; }
	for target in build-fuzz/bin/fuzz_*; do
		[ -x "$target" ] || continue
		while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
		fuzz_one "$target" "$seconds" &
		running+=($!)
	done
	for target in "${running[@]}"; do
		if wait "$target"; then ok=$((ok + 1)); else bad=$((bad + 1)); fi
	done
	[ $((ok + bad)) -gt 0 ] || fail_one "fuzz: it ran no test"
	count "$ok" "$bad"
	say "fuzz: $ok passed, $bad failed"
}
