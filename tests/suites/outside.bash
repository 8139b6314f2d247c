# outside.bash: the suites that ask processes, on this machine
# shellcheck shell=bash

suite_system() {
	unpack_packages
	build_asan || { fail_one "system: build-asan does not build" && return; }
	build_programs || { fail_one "system: build does not build, and memory is measured on it" && return; }
	run_pytest system tests/system -n "$system_side_by_side" --dist loadgroup "$@"
}

suite_console() {
	build_asan || { fail_one "console: build-asan does not build" && return; }
	run_pytest console tests/console -n "$system_side_by_side" --dist loadgroup "$@"
}

suite_crash() {
	build_asan || { fail_one "crash: build-asan does not build" && return; }
	run_pytest crash tests/crash -s "$@" # the seeds and the figures belong to the record
}

suite_outside() {
	unpack_packages
	build_asan || { fail_one "outside: build-asan does not build" && return; }
	build_programs || { fail_one "outside: build does not build, and memory is measured on it" && return; }
	# the bouts are the longest: they begin first; what they measured is told at the end
	run_pytest outside "tests/crash tests/console tests/system" -n "$outside_side_by_side" --dist loadgroup
}

suite_versions() {
	local old first commit
	case ${1:-} in --old=*) old=${1#--old=} && shift ;; *) old=$(last_release) ;; esac
	old=$(find_old "$old") && first=$(find_old "$(first_release)") || { fail_one "versions: there is no older release" && return; }
	say "beside $(git log -1 --format='%h of %as, %s' "$old")"
	for commit in "$old" "$first"; do # the same one is built once
		build_old "$commit" "build-old/$commit" build -DCMAKE_BUILD_TYPE=Debug -DCARTBUS_SANITIZE=address ||
			{ fail_one "versions: $commit does not build" && return; }
	done
	build_asan || { fail_one "versions: build-asan does not build" && return; }
	CARTBUS_BUILD_OLD=$root/build-old/$old/build CARTBUS_BUILD_FIRST=$root/build-old/$first/build \
		run_pytest versions tests/versions -n "$jobs" --dist loadgroup "$@"
}

suite_front() {
	install_packages tests/packages.front
	build_asan || { fail_one "front: build-asan does not build" && return; }
	run_pytest front tests/front "$@"
}

suite_siege() {
	build_release bus/all services/all deploy/all tests/system/all || { fail_one "siege: build does not build" && return; }
	programs=$root/build run_pytest siege tests/siege "$@" # the figures belong to the record
}

suite_metrics() {
	install_packages tests/packages.metrics
	build_asan || { fail_one "metrics: build-asan does not build" && return; }
	run_pytest metrics tests/metrics "$@"
}
