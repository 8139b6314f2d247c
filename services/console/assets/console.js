/*
 * console.js: what a page can do more with a script; without it each link and form works as well
 *
 * Stream:    events of the address in <body data-live-url>, each with JSON:
 *            `values` {"build", "as_of", "values": {KEY: text}}: the first after opening has all values of the page, others those that changed;
 *            one comes at least each 5 seconds, empty if nothing changed, so that a page knows how old it is
 *            `bye`    the session is over
 *            The same address answers Accept: application/json with one such object.
 * Promises:  sets texts and attributes alone, so it needs no trusted types; never moves, adds or replaces an element, a form or the focus
 * Fails by:  showing a bar that says that the page is not live, and asking again
 */

const body = document.body;
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const bar = (name) => one(`[data-bar="${name}"]`);
const show = (element, shown = true) => { if (element) element.hidden = !shown; };

/* A browser may refuse storage; then nothing is remembered. */
function remember(storage, key, value) {
	try {
		if (value === null)
			window[storage].removeItem(key);
		else if (value !== undefined)
			window[storage].setItem(key, value);
		return window[storage].getItem(key);
	} catch {
		return null;
	}
}

/* ---- live values ---- */

const UPDATE_MS = 500;
const LATE_MS = 10000;
const ASK_MS = 10000;
const WAIT_LEAST_MS = 1000;
const WAIT_MOST_MS = 60000;
const REFUSALS_UNTIL_ASKING = 3;

function live(url) {
	const places = new Map();
	const pending = new Map();
	const newRows = new Map();
	const toggle = one("[data-live-switch]");
	let stream = null, refused = 0, timer = 0, updating = 0, heardAt = performance.now(), over = false;

	for (const place of all("[data-live]")) {
		const key = place.dataset.live;
		places.set(key, [...(places.get(key) ?? []), place]);
	}

	const isOn = () => toggle.getAttribute("aria-pressed") === "true";
	const isBusy = () => !getSelection().isCollapsed || one("details.menu[open], dialog[open]") !== null;

	function countNewRow(key) {
		const [list, row] = key.split("/");
		const link = row && one(`[data-new-rows="${CSS.escape(list)}"]`);
		if (!link)
			return;
		const rows = newRows.get(list) ?? new Set();
		newRows.set(list, rows.add(row));
		one("[data-count]", link).textContent = rows.size.toLocaleString(document.documentElement.lang);
		show(link);
	}

	function setValue(key, text) {
		const here = places.get(key);
		if (!here && !all("[data-live]").some((place) => place.dataset.live.startsWith(key.split("/").slice(0, 2).join("/") + "/")))
			countNewRow(key);
		for (const place of here ?? []) {
			if (place.textContent === text)
				continue;
			place.textContent = text;
			place.classList.remove("changed");
			requestAnimationFrame(() => place.classList.add("changed"));
		}
	}

	function update() {
		updating = 0;
		if (isBusy())
			return later();
		for (const [key, text] of pending)
			setValue(key, text);
		pending.clear();
	}

	function later() {
		if (pending.size && !updating)
			updating = setTimeout(() => requestAnimationFrame(update), UPDATE_MS);
	}

	function hear(heard) {
		heardAt = performance.now();
		refused = 0;
		show(bar("lost"), false);
		if (heard.as_of && one("[data-as-of]"))
			one("[data-as-of]").textContent = heard.as_of;
		if (heard.build && heard.build !== body.dataset.build)
			show(bar("build"));
		for (const [key, text] of Object.entries(heard.values ?? {}))
			pending.set(key, String(text));
		later();
	}

	function end() {
		over = true;
		close();
		show(bar("bye"));
	}

	function close() {
		clearTimeout(timer);
		stream?.close();
		stream = null;
	}

	function again() {
		const wait = Math.min(WAIT_LEAST_MS * 2 ** refused, WAIT_MOST_MS);
		close();
		refused++;
		show(bar("lost"), refused >= 2);
		timer = setTimeout(refused >= REFUSALS_UNTIL_ASKING ? ask : open, Math.max(WAIT_LEAST_MS, wait * (0.5 + Math.random() / 2)));
	}

	/* Behind a proxy that holds streams back the page asks by itself; each round it also tries the stream again. */
	async function ask() {
		try {
			const answer = await fetch(url, { headers: { Accept: "application/json" }, cache: "no-store" });
			if (answer.status === 401)
				return end();
			if (answer.ok) {
				const before = refused;
				hear(await answer.json());
				refused = before;
			}
		} catch {
			/* the network is away: the next round tells */
		}
		if (!over && isOn() && !document.hidden)
			timer = setTimeout(open, ASK_MS);
	}

	function open() {
		close();
		if (over || !isOn() || document.hidden)
			return;
		const opened = new EventSource(url);
		stream = opened;
		opened.addEventListener("values", (event) => {
			try {
				hear(JSON.parse(event.data));
			} catch {
				/* half a message of a proxy: the next one is whole */
			}
		});
		opened.addEventListener("bye", end);
		opened.addEventListener("error", () => stream === opened && again());
	}

	function turn(on) {
		toggle.setAttribute("aria-pressed", String(on));
		if (on)
			open();
		else
			close();
		show(bar("lost"), false);
	}

	toggle.addEventListener("click", () => {
		turn(!isOn());
		remember("localStorage", "live", isOn() ? null : "off");
	});
	document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
	addEventListener("pagehide", close);
	addEventListener("pageshow", (event) => event.persisted && open());
	setInterval(() => show(one("[data-late]"), performance.now() - heardAt > LATE_MS), 1000);
	show(toggle);
	turn(remember("localStorage", "live") !== "off");
}

/* ---- keyboard ---- */

function keyboard() {
	const search = one("#search");

	document.addEventListener("keydown", (event) => {
		const typing = event.target.closest("input, textarea, select, [contenteditable]");
		if (event.key === "/" && search && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
			event.preventDefault();
			search.focus();
			search.select();
		}
		if (event.key === "Escape")
			for (const menu of all("details.menu[open]")) {
				menu.open = false;
				one("summary", menu).focus();
			}
	});
	document.addEventListener("click", (event) => {
		for (const menu of all("details.menu[open]"))
			if (!menu.contains(event.target))
				menu.open = false;
	});
}

/* ---- drafts: <form data-draft="NAME"> ---- */

const DRAFT_MS = 2000;
const NOT_KEPT = ["hidden", "password", "file"];
const kept = (form) => [...form.elements].filter((field) => field.name && !NOT_KEPT.includes(field.type));
const contentOf = (form) => JSON.stringify(kept(form).map((field) => [field.name, /radio|checkbox/.test(field.type) ? field.checked : field.value]));

function fill(form, draft) {
	const left = JSON.parse(draft);

	for (const field of kept(form)) {
		const at = left.findIndex(([name]) => name === field.name);
		const [[, value]] = at < 0 ? [[field.name, null]] : left.splice(at, 1);
		if (typeof value === "boolean")
			field.checked = value;
		else if (value !== null)
			field.value = value;
	}
}

/* The name of the person is in the key: nobody is offered what somebody else typed into this browser. */
function draftOf(form) {
	const key = `draft ${body.dataset.person} ${body.dataset.here} ${form.dataset.draft}`;
	const before = contentOf(form);
	const found = remember("sessionStorage", key);
	let asked = found !== null && found !== before, sent = false;

	if (asked) {
		const over = (use) => () => {
			if (use)
				fill(form, found);
			else
				remember("sessionStorage", key, null);
			asked = false;
			show(bar("draft"), false);
		};
		one("[data-draft-use]").addEventListener("click", over(true), { once: true });
		one("[data-draft-drop]").addEventListener("click", over(false), { once: true });
		show(bar("draft"));
	}
	const keep = () => {
		const now = contentOf(form);
		if (!sent && !(asked && now === before))
			remember("sessionStorage", key, now === before ? null : now);
	};
	setInterval(keep, DRAFT_MS);
	addEventListener("pagehide", keep);
	form.addEventListener("submit", () => {
		keep(); /* a session that is over answers with the sign-in page, and then the draft is all that is left */
		sent = true;
	});
}

/* ---- questions: <form data-confirm="words"> ---- */

function confirmations() {
	const dialog = one("[data-ask]");
	let form = null, button = null;

	document.addEventListener("submit", (event) => {
		if (!event.target.dataset.confirm || event.target === form || event.defaultPrevented)
			return;
		event.preventDefault();
		form = event.target;
		button = event.submitter;
		one("[data-ask-words]").textContent = form.dataset.confirm;
		dialog.showModal();
	});
	one("[data-ask-no]").addEventListener("click", () => dialog.close());
	one("[data-ask-yes]").addEventListener("click", () => {
		dialog.close();
		form.requestSubmit(button); /* "close" comes later, so this form passes */
	});
	dialog.addEventListener("close", () => {
		form = null;
		button?.focus();
	});
}

/* ---- the one-time token: from the address into the field, and out of the address and the history ---- */

function enterToken() {
	const field = one("[data-from-fragment]");
	const token = location.hash.slice(1);

	if (!field || !token)
		return;
	field.value = token;
	history.replaceState(null, "", location.pathname + location.search);
	one("button", field.form).focus();
}

enterToken();
keyboard();
confirmations();
all("form[data-draft]").forEach(draftOf);
if (body.dataset.liveUrl)
	live(body.dataset.liveUrl);
