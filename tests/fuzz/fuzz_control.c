/*
 * fuzz_control.c: whatever arrives at the control socket and at the ingress, the broker goes on
 *
 * Input: pieces, each a byte that says where it goes (even: control, odd: ingress), its length (u16) and so many bytes. A piece at
 * the ingress is tried as it is; what is malformed ends at most the session that it names. Afterwards a peer that behaves is served.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/unit/broker/desk.h"

static void hear(const struct desk *desk, const struct peer *stranger, uint8_t where, struct bytes piece)
{
	if (where & 1)
		broker_hear_frame(desk->broker, stranger->who, piece);
	else
		broker_hear_control(desk->broker, bytes_of(stranger->routing), stranger->who, piece);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct desk *desk = desk_open();
	struct peer *stranger = peer_new(desk, "worker", "stranger"), *gateway = peer_new(desk, "door", "door-1");
	Confirm confirm;

	while (len >= 3) {
		size_t piece = (size_t)data[1] | (size_t)data[2] << 8;

		piece = piece < len - 3 ? piece : len - 3;
		hear(desk, stranger, data[0], BYTES(data + 3, piece));
		data += 3 + piece;
		len -= 3 + piece;
	}
	desk_work(desk);
	MUST(desk->commit_result == 0);
	peer_hello(gateway, "run", 0);
	MUST(gateway->welcomed || gateway->refused); /* a stranger may have taken its name before */
	if (gateway->welcomed) {
		confirm = SAID(gateway, .topic = "work");
		MUST(confirm.kind == CONFIRM_FRESH);
	}
	desk_close(desk);
	return 0;
}
