// console.js: what a page can do better with a script: live values, the key "/", and the token of a one-time link. Every page works without it.

const body = document.body;
const news = document.getElementById("news");
const liveState = document.getElementById("live-state");
const german = document.documentElement.lang === "de";
const words = german
  ? { live: "Live", away: "Nicht live; neuer Versuch folgt", ended: "Die Sitzung ist zu Ende. Bitte melden Sie sich an.", build: "Es gibt eine neue Version: bitte neu laden.", old: "Zuletzt aktuell um " }
  : { live: "Live", away: "Not live; trying again", ended: "The session has ended. Please sign in.", build: "There is a new version: please reload.", old: "Last right at " };

// ---- live values ----

let source = null;
let wait = 1000;
let timer = 0;

function say(text) {
  if (liveState) liveState.textContent = text;
}

function isBusy() {
  const selection = document.getSelection();
  return (selection && !selection.isCollapsed) || document.querySelector("details.menu[open]") !== null;
}

function show(values) {
  for (const [key, text] of Object.entries(values)) {
    for (const place of document.querySelectorAll(`[data-live="${CSS.escape(key)}"]`)) {
      if (place.textContent === text) continue;
      place.textContent = text;
      place.classList.add("fresh");
      setTimeout(() => place.classList.remove("fresh"), 1500);
    }
  }
}

let held = {};

function take(event) {
  const data = JSON.parse(event.data);
  wait = 1000;
  say(words.live);
  held = { ...held, ...data.values };
  if (isBusy()) return;
  requestAnimationFrame(() => {
    show(held);
    held = {};
  });
}

function end(text) {
  if (news) {
    news.textContent = text;
    news.classList.remove("unseen");
  }
  say("");
  close();
}

function close() {
  clearTimeout(timer);
  if (source) source.close();
  source = null;
}

function again() {
  close();
  say(words.away);
  timer = setTimeout(open, wait + Math.random() * 1000);
  wait = Math.min(wait * 2, 60000);
}

function open() {
  if (source || document.hidden || !body.dataset.liveUrl) return;
  source = new EventSource(body.dataset.liveUrl);
  source.addEventListener("values", take);
  source.addEventListener("build", (event) => {
    if (JSON.parse(event.data).build !== body.dataset.build) end(words.build);
  });
  source.addEventListener("bye", () => end(words.ended));
  source.onerror = () => {
    if (source && source.readyState === EventSource.CLOSED) again();
    else say(words.away);
  };
}

document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
document.addEventListener("selectionchange", () => {
  if (!isBusy() && Object.keys(held).length) {
    show(held);
    held = {};
  }
});
open();

// ---- keys ----

document.addEventListener("keydown", (event) => {
  const search = document.getElementById("search");
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || !search) return;
  event.preventDefault();
  search.focus();
});

// ---- the one-time link: its token is behind the "#", which no server and no log ever sees ----

const token = document.getElementById("token");
if (token && location.hash.length > 1) {
  token.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
}
