/* borrowed.c: a field of a message that borrows its bytes, for nanopb */
#include "proto/borrowed.h"
#include <pb_encode.h>

bool borrowed_field(pb_istream_t *from, pb_ostream_t *to, const pb_field_t *field)
{
	const struct bytes *bytes = field->pData;

	(void)from;
	return to &&
		(bytes->len == 0 ||
			(pb_encode_tag_for_field(to, field) && pb_encode_string(to, bytes->data, bytes->len)));
}
