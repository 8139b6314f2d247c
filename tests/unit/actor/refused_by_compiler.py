"""refused_by_compiler.py SOURCE BUILD: a state table of an unknown name, and a row or a context of a wrong type, do not compile, by gcc and by clang."""

import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = sys.argv[1:]
BEFORE = """
#include "bus/actor/service.h"
#include "cart.pb.h"
#include "services/kit/effect/claims.h"
struct pace { int count; };
STATE_TABLE(suppressions, "suppressed", Suppression);
STATE_BORROWING(documents, "document", Document);
STATE_STRUCTS(pace, "pace", struct pace);
STATE_NUMBERS(version, "version");
STATE_STRINGS(zone, "zone");
STATE_STRUCTS(mails, "mails", struct claim_row);
extern const struct service sender, other;
struct sender { int limit; };
struct other { int limit; };
SERVICE_CONTEXT(sender, struct sender);
SERVICE_CONTEXT(other, struct other);
void use(struct state *state, struct buffer *buffer, Suppression *row, const Suppression *fact, Alarm *alarm, Document *document, struct pace *pace);
bool each_row(const char *shop, const char *key, const Suppression *row, void *context);
bool each_alarm(const char *shop, const char *key, const Alarm *row, void *context);
bool each_number(const char *shop, const char *key, uint64_t number, void *context);
bool each_key(const char *shop, const char *key, void *context);
void use(struct state *state, struct buffer *buffer, Suppression *row, const Suppression *fact, Alarm *alarm, Document *document, struct pace *pace)
{
	uint64_t number = 0;
	struct sender mine = { 0 };
	struct other others = { 0 };
	(void)buffer, (void)row, (void)fact, (void)alarm, (void)document, (void)pace, (void)number, (void)mine, (void)others, (void)state;
"""
RIGHT = [
    'STATE_GET(state, suppressions, "shop", "key", row);',
    'STATE_PUT(state, suppressions, "shop", "key", row);',
    'STATE_PUT(state, suppressions, "shop", "key", fact);',
    'STATE_GET_BORROWED(state, documents, "shop", "key", buffer, document);',
    'STATE_PUT(state, documents, "shop", "key", document);',
    'STATE_GET(state, pace, "shop", "key", pace);',
    'number = STATE_NUMBER(state, version, "shop", "key");',
    'STATE_PUT_NUMBER(state, version, "shop", "key", 7);',
    'STATE_GET_STRING(state, zone, "shop", "key", buffer);',
    'STATE_PUT_STRING(state, zone, "shop", "key", BYTES("", 0));',
    'STATE_HAS(state, zone, "shop", "key");',
    'STATE_DELETE(state, pace, "shop", "key");',
    "STATE_EACH(state, suppressions, NULL, NULL, each_row, NULL);",
    "STATE_EACH(state, version, NULL, NULL, each_number, NULL);",
    "STATE_EACH_KEY(state, suppressions, NULL, NULL, each_key, NULL);",
    'claims_row(state, CLAIMS_TABLE(mails), "shop", "key");',
    "sender_in(&mine);",
    "mine = *sender_context(state);",
]
WRONG = [
    'STATE_GET(state, documents, "shop", "key", document);',
    'STATE_GET_BORROWED(state, documents, "shop", "key", buffer, alarm);',
    'STATE_GET(state, supressions, "shop", "key", row);',
    'STATE_PUT(state, supressions, "shop", "key", row);',
    'STATE_HAS(state, versions, "shop", "key");',
    'STATE_DELETE(state, zones, "shop", "key");',
    'STATE_NUMBER(state, versoin, "shop", "key");',
    'STATE_GET(state, suppressions, "shop", "key", alarm);',
    'STATE_GET(state, suppressions, "shop", "key", fact);',
    'STATE_PUT(state, suppressions, "shop", "key", alarm);',
    'STATE_PUT(state, pace, "shop", "key", row);',
    'STATE_GET(state, version, "shop", "key", &number);',
    'STATE_NUMBER(state, suppressions, "shop", "key");',
    'STATE_NUMBER(state, zone, "shop", "key");',
    'STATE_PUT_NUMBER(state, pace, "shop", "key", 7);',
    'STATE_GET_STRING(state, version, "shop", "key", buffer);',
    'STATE_PUT_STRING(state, suppressions, "shop", "key", BYTES("", 0));',
    'state_get(state, "suppressed", "shop", "key", &Suppression_msg, row);',
    'state_put_number(state, "version", "shop", "key", 7);',
    "STATE_EACH(state, suppressions, NULL, NULL, each_alarm, NULL);",
    "STATE_EACH(state, version, NULL, NULL, each_row, NULL);",
    "STATE_EACH_KEY(state, suppressions, NULL, NULL, each_row, NULL);",
    'claims_row(state, CLAIMS_TABLE(pace), "shop", "key");',
    'claims_row(state, CLAIMS_TABLE(version), "shop", "key");',
    'claims_row(state, CLAIMS_TABLE(mail), "shop", "key");',
    "sender_in(&others);",
    "others = *sender_context(state);",
]
# What C asks only a warning for, and the build an error.
AS_BUILT = ["-Werror=incompatible-pointer-types", "-Werror=implicit-function-declaration"]


def compiles(compiler, line):
    with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
        file.write(f"{BEFORE}\t{line}\n}}\n")
        file.flush()
        folders = ["-I", SOURCE, "-I", f"{BUILD}/proto", "-isystem", "/usr/include/nanopb"]
        return subprocess.run([compiler, "-std=c17", "-D_GNU_SOURCE", "-fsyntax-only", *AS_BUILT, *folders, file.name], capture_output=True).returncode == 0


faults = []
for compiler in filter(shutil.which, ["gcc", "clang"]):
    faults += [f"{compiler} refuses: {line}" for line in RIGHT if not compiles(compiler, line)]
    faults += [f"{compiler} takes: {line}" for line in WRONG if compiles(compiler, line)]
print("\n".join(faults))
sys.exit(bool(faults))
