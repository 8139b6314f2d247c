#!/bin/bash
#
# shot.sh: a picture of a mail's HTML part, as a browser shows it
#
# usage: tests/browser/shot.sh MAIL.eml PICTURE.png [WIDTHxHEIGHT] [dark]
#
# Nothing is fetched: pictures of items stay empty unless they are inside the mail.

set -eu -o pipefail
mail=$1
picture=$(realpath -m "$2")
size=${3:-640x900}
dark=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

/usr/bin/python3 - "$mail" >"$work/mail.html" <<'PYTHON'
import email, email.policy, sys
with open(sys.argv[1], "rb") as file:
    message = email.message_from_binary_file(file, policy=email.policy.default)
sys.stdout.write(message.get_body(("html",)).get_content())
PYTHON

options=()
[ -z "$dark" ] || options+=(--blink-settings=preferredColorScheme=0)
chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update \
	--disable-sync --hide-scrollbars --host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir="$work/profile" \
	"${options[@]}" --window-size="${size/x/,}" --screenshot="$picture" "file://$work/mail.html" \
	>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
[ -s "$picture" ] || { cat "$work/log"; exit 1; }
