/* show.c: what several pages show of a cart, as JSON */
#include "services/carts/console/show.h"
#include "services/carts/console/looks.h"
#include "services/kit/words/names.h"

json_t *show_text(const char *text)
{
	json_t *value = json_string(text);

	return value ? value : json_string("(not UTF-8)");
}

json_t *show_time(int64_t us)
{
	return us ? json_integer((json_int_t)us) : json_null();
}

json_t *show_word(const char *word)
{
	return word && *word ? show_text(word) : json_null();
}

json_t *show_next(const struct foreseen *foreseen, const char *zone)
{
	int step = foreseen->with_sender ? foreseen->with_sender : foreseen->plan.step;
	struct next_mail_line line;

	next_mail_line(foreseen, zone, &line);
	return json_pack("{s:o,s:i,s:o,s:b,s:b,s:b}", "at_us",
		show_time(foreseen->with_sender ? foreseen->since_us : foreseen->plan.send_us), "step", step, "words",
		show_text(line.words), "held", (int)(!foreseen->with_sender && plan_is_held(&foreseen->plan)),
		"observed", (int)(!foreseen->with_sender && foreseen->plan.would), "with_sender",
		(int)(foreseen->with_sender > 0));
}

json_t *show_next_of(const struct page_asked *asked, const char *cart_id, const struct cart_line *line)
{
	struct foreseen foreseen;

	if (!line->open || !look_foresee(asked->state, asked->shop, cart_id, asked->now_us, &foreseen))
		return json_null();
	return show_next(&foreseen, asked->zone);
}

static json_t *closed_reason(const struct cart_line *line)
{
	if (!line->closed_reason)
		return json_null();
	return show_word(enum_word(&CartState_msg, CartState_closed_reason_tag, (int)line->closed_reason));
}

json_t *show_line(const struct page_asked *asked, const char *cart_id, const struct cart_line *line)
{
	return json_pack("{s:o,s:I,s:o,s:o,s:I,s:I,s:o,s:s,s:o,s:I,s:o}", "cart", show_text(cart_id), "left_us",
		(json_int_t)line->left_us, "address", show_text(line->masked), "first_item",
		show_text(line->first_item), "items", (json_int_t)line->items, "total_minor",
		(json_int_t)line->total_minor, "currency", show_text(line->currency), "state",
		cart_word_text((enum cart_word)line->word), "closed_reason", closed_reason(line), "mails",
		(json_int_t)line->mails, "next", show_next_of(asked, cart_id, line));
}
