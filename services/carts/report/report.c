/*
 * report.c: counts carts, mails, orders and people of a period
 *
 * Promises:  pure. Each cart is counted at most once in a line about carts. A sum that does not fit stays at
 *            the largest number and does not wrap. A sum for which there is no place is counted.
 * Read next: report_fold.c, print.c
 */
#include "services/carts/report/report.h"
#include "bus/base/text.h"
#include "services/kit/locale/locale.h"

struct counting {
	const struct shop *shop;
	const struct period *period;
	struct report_figures *figures;
};

static bool is_in(const struct counting *counting, int64_t us)
{
	return us >= counting->period->from_us && us < counting->period->to_us;
}

static void add_minor(int64_t *sum, int64_t minor)
{
	if (__builtin_add_overflow(*sum, minor, sum))
		*sum = INT64_MAX;
}

/* The place of this currency in a sorted list; NULL: the list is full. */
static struct report_figures_sum *sum_of(struct report_figures_sum list[REPORT_CURRENCIES_MAX], const char *currency)
{
	int at = 0;

	while (at < REPORT_CURRENCIES_MAX && list[at].currency[0] && strcmp(list[at].currency, currency) < 0)
		at++;
	if (at == REPORT_CURRENCIES_MAX)
		return NULL;
	if (strcmp(list[at].currency, currency) == 0)
		return &list[at];
	if (list[REPORT_CURRENCIES_MAX - 1].currency[0])
		return NULL;
	memmove(&list[at + 1], &list[at], (size_t)(REPORT_CURRENCIES_MAX - 1 - at) * sizeof(*list));
	list[at] = (struct report_figures_sum){ 0 };
	TEXT_COPY(list[at].currency, currency);
	return &list[at];
}

static void count_order(const struct counting *counting, const struct report_fold_row *row)
{
	enum attribution class = attribution_of(row, &counting->shop->windows);
	struct attribution_money money = attribution_money(row);
	struct report_figures_sum *sum;

	if (class == ATTRIBUTION_NONE || !is_in(counting, row->bought_us))
		return;
	if (attribution_taken_back(row))
		counting->figures->taken_back++;
	else
		counting->figures->orders[class]++;
	sum = money.currency[0] ? sum_of(counting->figures->sums[class], money.currency) : NULL;
	if (!sum) {
		counting->figures->sums_left_out += money.currency[0] != '\0';
		return;
	}
	add_minor(&sum->total_minor, money.total_minor);
	add_minor(&sum->back_minor, money.back_minor);
}

static bool count_mail(const struct counting *counting, const struct report_fold_mail *mail, uint32_t *sent)
{
	bool to_shopper = mail->phase == SEND_SENT && !mail->to_owner;

	if (!is_in(counting, mail->at_us))
		return false;
	counting->figures->refused += mail->phase == SEND_REFUSED;
	counting->figures->ambiguous += mail->phase == SEND_AMBIGUOUS;
	counting->figures->to_owner += mail->phase == SEND_SENT && mail->to_owner;
	*sent += to_shopper;
	return to_shopper;
}

static void count_end(const struct counting *counting, const struct report_fold_row *row)
{
	if (row->status != CART_CLOSED || !is_in(counting, row->closed_us))
		return;
	counting->figures->gave_up += row->closed_reason == CLOSED_GAVE_UP;
	counting->figures->written_off += row->closed_reason == CLOSED_BY_OWNER;
}

/* true: the cart has no address; an open cart may still get one. */
static bool has_no_address(const struct report_fold_row *row)
{
	return row->closed_reason == CLOSED_NO_ADDRESS || (row->status == CART_OPEN && !*row->address_hash);
}

static void count_cart(const char *cart_id, const struct report_fold_row *row, void *context)
{
	const struct counting *counting = context;
	struct report_figures *figures = counting->figures;
	bool first = count_mail(counting, &row->mails[0], &figures->first);
	bool second = count_mail(counting, &row->mails[1], &figures->second);
	bool clicked = false;

	(void)cart_id;
	for (int i = 0; i < row->click_count; i++)
		clicked |= is_in(counting, row->clicks[i].at_us);
	figures->seen += is_in(counting, row->first_seen_us);
	figures->no_address += is_in(counting, row->first_seen_us) && has_no_address(row);
	figures->mailed += first || second;
	figures->clicked += clicked;
	count_order(counting, row);
	count_end(counting, row);
}

void report_figures_count(
	const struct state *state, const struct shop *shop, const struct period *period, struct report_figures *ret)
{
	*ret = (struct report_figures){ 0 };
	report_fold_each(
		state, shop->name, count_cart, &(struct counting){ .shop = shop, .period = period, .figures = ret });
	struct report_fold_people people = report_fold_people(state, shop->name, period->from_us, period->to_us);
	ret->opted_out = people.opted_out;
	ret->complaints = people.complaints;
	ret->bounces = people.bounces;
}

int report_figures_won(const struct report_figures *figures, struct report_figures_sum ret[REPORT_CURRENCIES_MAX])
{
	int count = 0;

	memset(ret, 0, sizeof(*ret) * REPORT_CURRENCIES_MAX);
	for (int class = ATTRIBUTION_CLICKED; class <= ATTRIBUTION_MAILED; class ++)
		for (int i = 0; i < REPORT_CURRENCIES_MAX && figures->sums[class][i].currency[0]; i++) {
			struct report_figures_sum *sum = sum_of(ret, figures->sums[class][i].currency);
			if (!sum)
				continue;
			add_minor(&sum->total_minor, figures->sums[class][i].total_minor);
			add_minor(&sum->back_minor, figures->sums[class][i].back_minor);
		}
	while (count < REPORT_CURRENCIES_MAX && ret[count].currency[0])
		count++;
	return count;
}

const struct report_words *report_words_for(const char *locale, char ret_tag[LOCALE_ROOM])
{
	const struct report_words *words;
	char tag[LOCALE_ROOM];

	locale_canonical(locale, tag);
	words = language_row(report_words, sizeof(*report_words), NULL, tag);
	locale_blend(words->language, tag, ret_tag);
	return words;
}

const struct report_figures_sum *report_figures_sum_in(
	const struct report_figures_sum list[REPORT_CURRENCIES_MAX], const char *currency)
{
	static const struct report_figures_sum nothing;

	for (int i = 0; i < REPORT_CURRENCIES_MAX && list[i].currency[0]; i++)
		if (strcmp(list[i].currency, currency) == 0)
			return &list[i];
	return &nothing;
}
