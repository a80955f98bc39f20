// The page: its state is its address; everything shown follows from it.

import { element, path, row } from "./code.js";
import { listen } from "./keys.js";
import { ask, keepToken, keptToken } from "./server.js";

const RESULTS = 10;
const PAUSE = 220;
const PART_LINES = 200;
const SETTLED = 3000;
const at = (id) => document.getElementById(id);
const box = at("q");
const selects = { repo: at("repo"), lang: at("lang"), tests: at("tests") };

let about = { repositories: [], languages: [], complete: true, unserved: [] };
let shown = { search: null, file: null };
let under = null;
let typing = 0;
let typed = 0;
let scrolled = 0;
let opened = false;

// State and address

function read() {
  const all = new URLSearchParams(location.search);
  const get = (name) => all.get(name) ?? "";
  return {
    q: get("q"), repo: get("repo"), lang: get("lang"), tests: get("tests"), all: get("all"),
    n: Math.min(Number.parseInt(get("n"), 10) || RESULTS, 50),
    in: get("in"), file: get("file"), line: Number.parseInt(get("line"), 10) || 0,
  };
}

function address(state) {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value && !(name === "n" && value === RESULTS)) all.set(name, value);
  }
  const text = all.toString();
  return text ? `/?${text}` : "/";
}

const without = (state) => ({ ...state, in: "", file: "", line: 0 });

function go(state, replace = false) {
  const next = address(state);
  if (next !== location.pathname + location.search) {
    if (!replace && state.file && !read().file) scrolled = window.scrollY;
    history[replace ? "replaceState" : "pushState"]({ inside: true }, "", next);
  }
  show();
}

// Search

const searchKey = (state) => JSON.stringify([state.q.trim(), state.repo, state.lang, state.tests, state.all, state.n]);

function parameters(state) {
  const asked = { query: state.q, results: state.n };
  // One that is not known any more is asked for all the same: the answer says what is wrong.
  if (state.repo) asked.paths = [about.repositories.find((one) => one.repository === state.repo)?.folder ?? state.repo];
  if (state.lang) asked.languages = [state.lang];
  if (state.tests) asked.tests = state.tests;
  if (state.all) asked.all = true;
  return asked;
}

async function search(state) {
  const key = searchKey(state);
  if (shown.search === key) return;
  shown.search = null;
  under?.abort();
  under = new AbortController();
  at("found").setAttribute("aria-busy", "true");
  const begun = performance.now();
  try {
    const answer = await ask("/page/results", parameters(state), under.signal);
    shown.search = key;
    results(state, answer, performance.now() - begun);
  } catch (error) {
    if (error.name === "AbortError") return;
    at("list").replaceChildren();
    at("end").replaceChildren();
    say("");
    fail(error, () => show());
  }
  at("found").removeAttribute("aria-busy");
}

function results(state, answer, took) {
  at("alert").replaceChildren();
  const several = about.repositories.length > 1;
  const items = [];
  // The line that separates likely results from near ones.
  const likely = answer.results.findLastIndex((hit) => hit.strength >= answer.near_below) + 1;
  for (const [place, hit] of answer.results.entries()) {
    if (place === likely) items.push(element("li", { class: "rule" }, place ? "near at best" : "nothing certain; what is near"));
    items.push(result(state, hit, several, place >= likely));
  }
  at("list").replaceChildren(...items);
  const count = answer.results.length;
  const seconds = took < 995 ? `${Math.round(took)} ms` : `${(took / 1000).toFixed(1)} s`;
  say(count === 0 ? "no results" : `${count}${answer.more ? "+" : ""} ${count === 1 ? "file" : "files"} · ${seconds}`);
  at("end").replaceChildren(...(count ? ending(state, answer) : nothing(state, answer)));
}

function result(state, hit, several, near) {
  const open = (line) => address({ ...state, in: hit.repository, file: hit.path, line });
  const name = path(hit.repository, hit.path, several);
  const link = element("a", { class: "path", href: open(hit.line) }, ...name, element("span", { class: "at" }, `:${hit.line}`));
  const [best, ...others] = hit.units;
  const unit = best?.name
    ? element("p", { class: "unit" }, element("span", { class: "kind" }, `${best.kind} `), element("b", {}, best.name))
    : null;
  const bar = element("i", { "aria-hidden": "true" });
  bar.style.setProperty("--part", hit.strength);
  const strength = element("span", { class: "strength", title: "How likely this is right" },
    element("span", { class: "unseen" }, "strength "), hit.strength.toFixed(2), bar);
  const rows = element("div", { class: "rows" }, ...hit.rows.map((one) => row(one.number, one.spans, open(one.number), one.number === hit.line)));
  const item = element("li", { class: near ? "hit near" : "hit" },
    element("header", {}, element("h2", {}, link), unit, strength),
    element("div", { class: "code" }, rows));
  const also = others.map((one) => element("a", { href: open(one.line) }, one.name || `${one.kind}, line ${one.line}`));
  const further = hit.also_here;
  if (further) also.push(element("span", {}, `${further} more ${further === 1 ? "place" : "places"} in this file`));
  if (also.length) item.append(element("p", { class: "also" }, ...also));
  return item;
}

function button(text, action) {
  const made = element("button", { type: "button", class: "action" }, text);
  made.addEventListener("click", action);
  return made;
}

function ending(state, answer) {
  const end = answer.remarks.map((text) => element("p", {}, text));
  if (answer.more && state.n < 50) end.push(button("More results", () => go({ ...read(), n: Math.min(state.n + RESULTS, 50) })));
  else if (!state.all) end.push(button("Weaker results too", () => go({ ...read(), all: "1" })));
  return end;
}

function nothing(state, answer) {
  const blank = element("div", { class: "blank" }, element("h1", {}, "Nothing here answers that"),
    ...answer.remarks.map((text) => element("p", {}, text)));
  if (state.repo || state.lang || state.tests) {
    blank.append(button("Search without filters", () => go({ ...read(), repo: "", lang: "", tests: "" })), " ");
  }
  if (!state.all) blank.append(button("Show what is near", () => go({ ...read(), all: "1" })));
  return [blank];
}

// One file

async function file(state) {
  const key = JSON.stringify([state.in, state.file]);
  const view = at("file");
  if (shown.file === key) {
    mark(state.line);
    return;
  }
  shown.file = null;
  view.replaceChildren();
  try {
    const answer = await ask("/page/file", { repository: state.in, path: state.file });
    const now = read();
    if (now.file !== state.file || now.in !== state.in) return;
    shown.file = key;
    view.replaceChildren(...whole(now, answer));
    say(`${answer.lines.length} lines`);
    mark(now.line);
    at("file-name").focus({ preventScroll: true });
  } catch (error) {
    fail(error, () => show());
  }
}

function whole(state, answer) {
  const to = (line) => address({ ...state, line });
  const back = element("a", { href: address(without(state)), class: "action back" }, "← Results");
  if (!state.q) back.textContent = "← Start";
  const name = element("h1", { id: "file-name", tabindex: "-1" }, ...path(answer.repository, answer.path, about.repositories.length > 1));
  const rows = answer.lines.map((spans, index) => row(index + 1, spans, to(index + 1), false));
  const parts = [];
  for (let from = 0; from < rows.length; from += PART_LINES) {
    parts.push(element("div", { class: "part" }, ...rows.slice(from, from + PART_LINES)));
  }
  const code = element("div", { class: "code", tabindex: "0", role: "group", "aria-label": "Code" }, element("div", { class: "rows" }, ...parts));
  const sheet = element("div", { class: "sheet" }, rows.length ? code : element("p", { class: "blank" }, "This file is empty."));
  const units = answer.units.filter((unit) => unit.name);
  if (!units.length) return [element("header", {}, back, name), sheet];
  const entry = (unit) => element("li", { class: unit.depth ? "deep" : null },
    element("a", { href: to(unit.line), "data-line": unit.line, title: `${unit.kind} ${unit.name}` }, unit.name));
  const list = element("nav", { class: "units", "aria-label": "Definitions" }, element("h2", {}, "In this file"), element("ol", {}, ...units.map(entry)));
  return [element("header", {}, back, name), element("div", { class: "sides" }, sheet, list)];
}

function mark(line) {
  const view = at("file");
  view.querySelector(".row.best")?.classList.remove("best");
  const wanted = line ? view.querySelector(`.row[data-line="${line}"]`) : null;
  wanted?.classList.add("best");
  let current = null;
  for (const link of view.querySelectorAll(".units a")) {
    link.removeAttribute("aria-current");
    if (Number(link.dataset.line) <= line) current = link;
  }
  current?.setAttribute("aria-current", "true");
  current?.scrollIntoView({ block: "nearest" });
  if (wanted) wanted.scrollIntoView({ block: "center" });
  else window.scrollTo(0, 0);
}

// Everything

function start() {
  const view = at("start");
  if (view.childElementCount) return;
  const several = about.repositories.length > 1;
  const samples = ["where is input parsed", "retry with a pause", "read settings", "error handling"];
  view.replaceChildren(
    element("h1", {}, "What are you looking for?"),
    element("p", {}, "Ask in words or type a name. What answers best comes first."),
    element("ul", { class: "samples", "aria-label": "For example" },
      ...samples.map((text) => element("li", {}, element("a", { href: address({ q: text }) }, text)))),
    element("p", { class: "foot" }, several ? `${about.repositories.length} repositories: ` : "Serves ",
      about.repositories.map((one) => one.repository).join(", "), "  ·  ", element("kbd", {}, "?"), " shows the keys"),
    ...about.unserved.map((one) =>
      element("p", { class: "foot" }, `${one.repository} can't be searched now: ${one.why}`)));
}

function say(text) {
  at("status").textContent = text;
}

function fail(error, again) {
  if (error.status === 401) {
    at("token-value").value = "";
    at("token-wrong").hidden = !keptToken();
    at("token").showModal();
    return;
  }
  const isOurs = [400, 413, 422].includes(error.status);
  const what = isOurs ? "This can't be answered as it is." : "Something went wrong.";
  const note = element("div", { class: "note" }, element("p", {}, element("strong", {}, what)), element("p", {}, error.message));
  if (!isOurs) note.append(button("Try again", again), " ");
  if (read().file) note.append(button("← Back", () => go(without(read()))));
  at("alert").replaceChildren(note);
}

function show() {
  const state = read();
  const asks = Boolean(state.q.trim());
  if (document.activeElement !== box || box.value.trim() !== state.q.trim()) box.value = state.q;
  for (const [name, select] of Object.entries(selects)) {
    if (state[name] && ![...select.options].some((option) => option.value === state[name])) {
      select.append(element("option", { value: state[name] }, state[name]));
    }
    select.value = state[name];
    select.classList.toggle("set", Boolean(state[name]));
  }
  at("alert").replaceChildren();
  at("file").hidden = !state.file;
  at("found").hidden = Boolean(state.file) || !asks;
  at("start").hidden = Boolean(state.file) || asks;
  document.title = [state.file, state.q.trim(), "colgrep"].find(Boolean) + (state.file || asks ? " · colgrep" : "");
  if (state.file) {
    opened = true;
    file(state);
    return;
  }
  if (!asks) {
    shown.search = null;
    under?.abort();
    say("");
    start();
    return;
  }
  const again = shown.search === searchKey(state);
  search(state);
  if (opened && again) {
    window.scrollTo(0, scrolled);
    const links = [...document.querySelectorAll(".hit .path")];
    (links.find((link) => link.href === last) ?? links[0])?.focus({ preventScroll: true });
    say(`${links.length} ${links.length === 1 ? "file" : "files"}`);
  }
  opened = false;
}

let last = "";

function step(by) {
  const state = read();
  if (state.file) {
    const lines = [...document.querySelectorAll(".units a")].map((link) => Number(link.dataset.line));
    const next = by > 0 ? lines.find((line) => line > state.line) : lines.findLast((line) => line < state.line);
    if (next) go({ ...state, line: next }, true);
    return;
  }
  const links = [...document.querySelectorAll(".hit .path")];
  const here = links.findIndex((link) => link.closest(".hit").contains(document.activeElement));
  const next = links[Math.max(0, Math.min(links.length - 1, here + by))];
  next?.focus({ preventScroll: true });
  next?.closest(".hit").scrollIntoView({ block: "nearest" });
}

function escape() {
  const state = read();
  if (document.activeElement === box) {
    box.blur();
  } else if (state.file) {
    if (opened && history.state?.inside && shown.search) history.back();
    else go(without(state));
  } else {
    return false;
  }
  return true;
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("theme", root.dataset.theme);
  } catch {
    // It holds for this page alone.
  }
}

at("search").addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(typing);
  go({ ...without(read()), q: box.value, n: RESULTS, all: "" });
});
box.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    const state = read();
    // Only a query that was read for a while becomes a step in the history.
    const settled = performance.now() - typed > SETTLED;
    typed = performance.now();
    go({ ...without(state), q: box.value, n: RESULTS, all: "" }, !state.file && Boolean(state.q) && !settled);
  }, PAUSE);
});
for (const [name, select] of Object.entries(selects)) {
  select.addEventListener("change", () => go({ ...without(read()), [name]: select.value, n: RESULTS, q: box.value }));
}
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || to.pathname !== "/" || to.hash) return;
  event.preventDefault();
  const state = read();
  if (link.closest(".hit")) last = link.closest(".hit").querySelector(".path").href;
  const inFile = Boolean(state.file) && link.closest("#file") && !link.classList.contains("back");
  if (inFile) history.replaceState(history.state, "", link.href);
  else {
    if (!state.file) scrolled = window.scrollY;
    history.pushState({ inside: true }, "", link.href);
  }
  show();
});
window.addEventListener("popstate", show);
at("theme").addEventListener("click", theme);
at("help").addEventListener("click", () => at("keys").showModal());
at("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken(at("token-value").value);
  at("token").close();
  begin();
});
listen({
  "/": () => { box.focus(); box.select(); },
  "?": () => at("keys").showModal(),
  j: () => step(1),
  k: () => step(-1),
  t: theme,
  down: () => step(1),
  escape,
});

async function begin() {
  try {
    about = await ask("/page/about");
  } catch (error) {
    fail(error, begin);
    return;
  }
  choices();
  at("start").replaceChildren();
  show();
  if (!read().q && !read().file) box.focus();
  if (!about.complete) later();
}

// What the filters offer.
function choices() {
  const options = (select, values) => {
    const chosen = select.value;
    const all = chosen && !values.includes(chosen) ? [...values, chosen] : values;
    select.replaceChildren(select.options[0], ...all.map((value) => element("option", { value }, value)));
    select.value = chosen;
  };
  options(selects.repo, about.repositories.map((one) => one.repository));
  options(selects.lang, about.languages);
  at("repo-choice").hidden = about.repositories.length < 2;
}

// While an index is being built, or a shard is away, there is more to choose from soon.
function later() {
  setTimeout(async () => {
    const now = await ask("/page/about").catch(() => about);
    if (JSON.stringify(now) !== JSON.stringify(about)) {
      about = now;
      choices();
      at("start").replaceChildren();
      if (!read().q.trim() && !read().file) start();
    }
    if (!about.complete) later();
  }, 2000);
}

begin();
