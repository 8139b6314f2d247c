# packages.bash: installs what a suite needs: Debian's packages, named in deploy/packages.* and tests/packages.*
# shellcheck shell=bash

missing_packages() {
	local package
	cat deploy/packages.build tests/packages.test "$@" | while read -r package; do
		[ -n "$package" ] || continue
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
	done
}

unpack_packages() { # what cannot be installed beside what else is needed lies in build-asan/unpacked/PACKAGE
	local package folder
	while read -r package; do
		folder=build-asan/unpacked/$package
		if [ -z "$package" ] || [ -d "$folder/usr" ]; then continue; fi
		say "unpacking $package"
		mkdir -p "$folder.deb" build-asan/results
		if ! { (cd "$folder.deb" && { apt-get download "$package" || { apt-get update && apt-get download "$package"; }; }) &&
			dpkg -x "$folder.deb"/*.deb "$folder"; } >build-asan/results/apt.log 2>&1; then
			tail -n 20 build-asan/results/apt.log
			say "apt-get could not download $package: see above"
			exit 2
		fi
	done <tests/packages.unpacked
}

install_packages() { # install_packages [FURTHER LIST ...]
	local missing
	missing=$(missing_packages "$@")
	[ -n "$missing" ] || return 0
	say "installing $missing"
	mkdir -p build-asan/results
	# shellcheck disable=SC2086
	if ! deploy/install_packages $missing >build-asan/results/apt.log 2>&1; then
		tail -n 20 build-asan/results/apt.log
		say "the packages could not be installed: see above"
		exit 2
	fi
}
