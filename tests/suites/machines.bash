# machines.bash: the suites that boot machines, and those that measure or plant
# shellcheck shell=bash

suite_systemd() {
	install_packages tests/packages.systemd
	build_release || { fail_one "systemd: build does not build" && return; }
	run_pytest systemd tests/systemd "$@"
}

suite_handbook() {
	install_packages deploy/packages.deb tests/packages.systemd tests/packages.handbook
	run_pytest handbook tests/handbook "$@"
}

suite_hosts() {
	install_packages tests/packages.systemd tests/packages.handbook tests/packages.hosts
	build_release || { fail_one "hosts: build does not build, and is installed on machines" && return; }
	build_asan || { fail_one "hosts: build-asan does not build" && return; }
	run_pytest hosts tests/hosts "$@"
}

suite_package() {
	install_packages deploy/packages.deb tests/packages.package
	if [ "${1:-}" = --arm64 ]; then
		run_pytest package tests/arm64 -s "${@:2}"
		return
	fi
	run_pytest package tests/package -s "$@" # the figures belong to the record
}

suite_fresh() {
	install_packages tests/packages.systemd
	run_pytest fresh tests/fresh -s "$@" # what the newcomer saw belongs to the record
}

suite_bench() {
	install_packages tests/packages.bench
	build_release || exit 1
	case " $* " in *" beside "*) build_old_release || exit 1 ;; esac
	CARTBUS_BUILD=${CARTBUS_BUILD:-$root/build} exec tests/bench/run "$@"
}

suite_mutants() {
	exec tests/mutants/run "$@"
}
