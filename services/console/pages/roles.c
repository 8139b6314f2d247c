/* roles.c: a person's roles as text */
#include "services/console/pages/roles.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"

json_t *roles_as_text(const struct person *person)
{
	json_t *roles = json_array();

	for (int role = 0; role < ROLES; role++) {
		const struct person_role *held = &person->roles[role];
		_cleanup_(buffer_free) struct buffer text = { 0 };

		if (!held->is_held)
			continue;
		buffer_add_text(&text, role_name((enum role)role));
		for (size_t i = 0; i < held->shop_count; i++)
			buffer_printf(&text, "%s%s", i ? "," : ":", held->shops[i]);
		json_array_append_new(roles, json_string(buffer_text(&text)));
	}
	return roles;
}
