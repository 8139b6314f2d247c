# builds.bash: the builds of a suite: build (release), build-asan, build-tsan, ... and those of older releases
# shellcheck shell=bash

use_ccache() { # for CMake, which asks for it in the environment; a clone elsewhere finds what another one compiled
	command -v ccache >/dev/null || return 0
	export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=yes
}

# build FOLDER [cmake option ...] [-- target ...]; one line, and the compiler's words if it fails; $sources: where they lie, if not here
build() {
	local folder=$1 options=() log
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	log=$root/$folder/build.log
	mkdir -p "$folder"
	local begun=$SECONDS
	if cmake -S "${sources:-.}" -B "$folder" -G Ninja "${options[@]}" >"$log" 2>&1 &&
		ninja -C "$folder" -j "$jobs" "$@" >>"$log" 2>&1; then
		say "built $folder ($((SECONDS - begun)) s)"
		return 0
	fi
	{ grep -E -A 12 '^FAILED: |CMake Error' "$log" || tail -n 30 "$log"; } | head -n 60 | tee >(keep_words "$folder")
	say "FAILED to build $folder: all of it is in $log"
	return 1
}

# Says both options: deploy/quickstart shares the folder, and leaves the tests out of it.
build_release() { # build_release [target ...]; without one, everything
	build build -DCMAKE_BUILD_TYPE=Release -DCARTBUS_SANITIZE= -DCARTBUS_TESTS=ON -- "$@"
}

build_programs() { # for who asks what they declare, or measures their memory while they are flooded
	build_release bus/all services/all deploy/all cartbus-test-flood
}

build_asan() {
	build build-asan -DCMAKE_BUILD_TYPE=Debug -DCARTBUS_SANITIZE=address
}

first_release() { # its commit
	awk '!/^#/ && NF == 2 { print $2; exit }' tests/releases
}

last_release() { # its commit
	awk '!/^#/ && NF == 2 { commit = $2 } END { print commit }' tests/releases
}

find_old() { # find_old COMMIT; its whole name, which its folder has
	git rev-parse --verify --quiet "$1^{commit}" && return
	say "the history here does not hold $1: git fetch --unshallow" >&2
	return 1
}

build_old() { # build_old COMMIT FOLDER BUILD cmake option ...; its programs lie in FOLDER/BUILD then
	mkdir -p "$2/source" && git archive "$1" | tar -x -C "$2/source" &&
		sources=$2/source CCACHE_BASEDIR=$root/$2/source build "$2/$3" "${@:4}" -- bus/all services/all
}

build_old_release() { # for the bench that runs it beside this one
	local old
	old=$(find_old "$(last_release)") && build_old "$old" "build-old/$old" release -DCMAKE_BUILD_TYPE=Release -DCARTBUS_SANITIZE= &&
		export CARTBUS_BUILD_OLD=$root/build-old/$old/release
}
