// The page: its state is its address; everything shown follows from it.

import { element, path, row } from "./code.js";
import { listen } from "./keys.js";
import { ask, keepToken, keptToken } from "./server.js";

const RESULTS = 10;
// The server gives no more at once.
const RESULTS_MAX = 50;
const PAUSE = 220;
const PART_LINES = 200;
const SETTLED = 3000;
const at = (id) => document.getElementById(id);
const box = at("q");
const selects = { repo: at("repo"), lang: at("lang"), tests: at("tests"), ctx: at("ctx") };

let about = { repositories: [], languages: [], complete: true, unserved: [] };
let shown = { search: null, file: null, status: "", took: "" };
let under = null;
let typing = 0;
let typed = 0;
let scrolled = 0;
let opened = false;
// The result that gets the focus when further ones have come.
let next = -1;
let facets = null;

// State and address

function read() {
  const all = new URLSearchParams(location.search);
  const get = (name) => all.get(name) ?? "";
  const number = (name) => Number.parseInt(get(name), 10) || 0;
  const [, from, to] = /^#L(\d+)(?:-L(\d+))?$/.exec(location.hash) ?? [];
  return {
    q: get("q"), re: get("re"), repo: get("repo"), lang: get("lang"), tests: get("tests"), path: get("path"),
    ctx: number("ctx") || "", all: get("all"), n: Math.min(number("n") || RESULTS, RESULTS_MAX),
    in: get("in"), file: get("file"), line: Number(from ?? number("line")), to: Number(to ?? 0),
  };
}

function address(state) {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value && name !== "to" && !(name === "n" && value === RESULTS)) all.set(name, value);
  }
  const text = all.toString();
  const lines = state.file && state.to > state.line ? `#L${state.line}-L${state.to}` : "";
  return (text ? `/?${text}` : "/") + lines;
}

const without = (state) => ({ ...state, in: "", file: "", line: 0, to: 0 });

function go(state, replace = false) {
  const to = address(state);
  if (to !== location.pathname + location.search + location.hash) {
    if (!replace && state.file && !read().file) scrolled = window.scrollY;
    history[replace ? "replaceState" : "pushState"]({ inside: true }, "", to);
  }
  show();
}

// Search

const facetsKey = (state) => JSON.stringify([state.q.trim(), state.re, state.tests, state.path, state.all]);
const searchKey = (state) => JSON.stringify([facetsKey(state), state.repo, state.lang, state.ctx, state.n]);

// The globs of the field Path, which commas and blanks separate; those inside brackets or quotes, or escaped, belong to a glob.
function globs(text) {
  const all = [""];
  let depth = 0;
  let quoted = false;
  for (const part of text.match(/\\.|[^]/gu) ?? []) {
    if (part === '"') {
      quoted = !quoted;
    } else if (!quoted && depth === 0 && /^[\s,]$/.test(part)) {
      all.push("");
    } else {
      if (!quoted && /^[{[]$/.test(part)) depth += 1;
      if (!quoted && /^[}\]]$/.test(part)) depth = Math.max(0, depth - 1);
      all[all.length - 1] += part;
    }
  }
  return all.filter(Boolean);
}

// A word that is no glob is a part of a path: it may still be typed.
function partOfPath(word) {
  if (/[*?[\]{}\\]|\/$/.test(word)) return word;
  return `${/^[./]/.test(word) ? "" : "*"}${word}*`;
}

function parameters(state) {
  const asked = state.re ? { pattern: state.q } : { query: state.q };
  asked.results = state.n;
  if (state.repo) asked.paths = [state.repo];
  if (state.lang) asked.languages = [state.lang];
  if (state.tests) asked.tests = state.tests;
  const all = globs(state.path);
  asked.include = all.filter((glob) => !glob.startsWith("!")).map(partOfPath);
  // What would leave out everything is not whole yet.
  asked.exclude = all.filter((glob) => /^!.*[^!*/\s]/.test(glob)).map((glob) => partOfPath(glob.slice(1)));
  if (state.ctx) asked.lines = state.ctx;
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
    count(state, answer);
  } catch (error) {
    if (error.name === "AbortError") return;
    next = -1;
    // A glob that is being typed is not whole yet: the results stay.
    if (refused(error) && document.activeElement === at("path")) {
      say(`Path: ${error.message}`);
    } else {
      at("list").replaceChildren();
      at("end").replaceChildren();
      say("");
      fail(error, () => show());
    }
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
    if (place === likely) items.push(element("li", { class: "rule" }, place ? "less likely" : "nothing certain; best guesses"));
    items.push(result(state, hit, several, place >= likely));
  }
  at("list").replaceChildren(...items);
  const count = answer.results.length;
  const seconds = took < 995 ? `${Math.round(took)} ms` : `${(took / 1000).toFixed(1)} s`;
  shown.took = seconds;
  shown.status = count === 0 ? "no results" : `${count}${answer.more ? "+" : ""} ${count === 1 ? "file" : "files"} · ${seconds}`;
  say(shown.status);
  at("found-title").textContent = `Results for ${state.q.trim()}`;
  at("found-title").hidden = count === 0;
  at("end").replaceChildren(...(count ? ending(state, answer) : nothing(state, answer)));
  if (next >= 0) {
    const links = document.querySelectorAll(".hit .path");
    links[Math.min(next, links.length - 1)]?.focus();
    next = -1;
  }
}

// Results among the best ones of a repository and of a language; of all where none is named.
function counted(repository, language) {
  const sum = (numbers, name) => (name ? numbers[name] ?? 0 : Object.values(numbers).reduce((one, other) => one + other, 0));
  const ofEach = Object.entries(facets.repositories).map(([name, numbers]) => [name, sum(numbers, language)]);
  return sum(Object.fromEntries(ofEach), repository);
}

// How many results each choice of the filters has, among the best ones.
async function count(state, answer) {
  const key = facetsKey(state);
  if (facets?.key !== key) {
    facets = null;
    choices();
    const { paths, languages, lines, results: wanted, ...asked } = parameters(state);
    const numbers = await ask("/page/facets", asked, under.signal).catch(() => null);
    if (!numbers || facetsKey(read()) !== key) return;
    facets = { ...numbers, key };
  }
  choices();
  const found = answer.results.length;
  const known = counted(state.repo, state.lang);
  if (searchKey(read()) === searchKey(state) && !read().file && found && known > found) {
    shown.status = `${found} of ${known}${facets.more ? "+" : ""} files · ${shown.took}`;
    say(shown.status);
  }
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
    element("header", {}, element("h2", {}, link), copying(hit.path), unit, strength),
    element("div", { class: "code" }, rows));
  const also = others.map((one) => element("a", { href: open(one.line) }, one.name || `${one.kind}, line ${one.line}`));
  const further = hit.also_here;
  if (further) {
    const more = button(`${further} more ${further === 1 ? "place" : "places"} in this file`, () => places(state, hit, item, more));
    more.className = "more";
    also.push(more);
  }
  if (also.length) item.append(element("p", { class: "also" }, ...also));
  return item;
}

// Shows the other places of a file below its result.
async function places(state, hit, item, more) {
  more.disabled = true;
  const wanted = Math.min(hit.units.length + hit.also_here, 100);
  const asked = { ...parameters(state), paths: [`${hit.repository}/${hit.path}`], per_file: wanted, results: 1, all: true };
  try {
    const [whole] = (await ask("/page/results", asked)).results;
    const units = (whole?.units ?? []).filter((unit) => unit.shown && unit.shown.number !== hit.line);
    units.sort((one, other) => one.shown.number - other.shown.number);
    const rows = units.map((unit) => {
      const made = row(unit.shown.number, unit.shown.spans, address({ ...state, in: hit.repository, file: hit.path, line: unit.shown.number }), false);
      made.title = `${unit.kind} ${unit.name}`;
      made.firstChild.removeAttribute("tabindex");
      return made;
    });
    item.append(element("div", { class: "code places" }, element("div", { class: "rows" }, ...rows)));
    const others = more.parentElement;
    more.remove();
    if (!others.childElementCount) others.remove();
    rows[0]?.firstChild.focus();
  } catch (error) {
    more.disabled = false;
    fail(error, () => places(state, hit, item, more));
  }
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without https only a selection can be copied.
    const field = element("textarea", { class: "unseen", "aria-hidden": "true" });
    field.value = text;
    const before = document.activeElement;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    before?.focus({ preventScroll: true });
  }
  say(`copied ${text}`);
}

function copying(text) {
  const made = button("Copy path", () => copy(text));
  made.className = "copy";
  made.setAttribute("aria-label", `Copy path ${text}`);
  return made;
}

function button(text, action) {
  const made = element("button", { type: "button", class: "action" }, text);
  made.addEventListener("click", action);
  return made;
}

function ending(state, answer) {
  const end = answer.remarks.map((text) => element("p", {}, text));
  const further = (change) => () => {
    next = answer.results.length;
    go({ ...read(), ...change });
  };
  if (answer.more && state.n < RESULTS_MAX) {
    end.push(button("More results", further({ n: Math.min(state.n + RESULTS, RESULTS_MAX) })));
  } else if (answer.more) {
    end.push(element("p", {}, `The first ${answer.results.length} files are shown; narrow the search with a path or language.`));
  } else if (!state.all && !state.re) {
    end.push(button("Weaker results too", further({ all: "1" })));
  }
  return end;
}

function nothing(state, answer) {
  const blank = element("div", { class: "blank" }, element("h1", {}, "Nothing here answers that"),
    ...answer.remarks.map((text) => element("p", {}, text)));
  if (state.repo || state.lang || state.tests || state.path) {
    blank.append(button("Search without filters", () => go({ ...read(), repo: "", lang: "", tests: "", path: "" })), " ");
  }
  if (!state.all && !state.re) blank.append(button("Show weak results", () => go({ ...read(), all: "1" })));
  return [blank];
}

// One file

async function file(state) {
  const key = JSON.stringify([state.in, state.file, state.q, state.re]);
  const view = at("file");
  if (shown.file === key) {
    mark(state);
    return;
  }
  shown.file = null;
  view.replaceChildren();
  try {
    const marked = state.re ? { pattern: state.q } : { query: state.q };
    const answer = await ask("/page/file", { repository: state.in, path: state.file, ...marked });
    const now = read();
    if (now.file !== state.file || now.in !== state.in) return;
    shown.file = key;
    view.replaceChildren(...whole(now, answer));
    const found = markedLines().length;
    say(`${answer.lines.length} lines${found ? ` · ${found} marked` : ""}`);
    mark(now);
    at("file-name").focus({ preventScroll: true });
  } catch (error) {
    fail(error, () => show());
  }
}

function whole(state, answer) {
  const to = (line) => address({ ...state, line, to: 0 });
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
  const wrap = button("Wrap lines", wrapping);
  wrap.className = "copy";
  const host = answer.host
    ? element("a", { class: "copy host", href: answer.host, rel: "noreferrer" }, `On ${new URL(answer.host).host}`) : null;
  const head = () => element("header", {}, back, name, host, copying(answer.path), wrap);
  if (!units.length) return [head(), sheet];
  const entry = (unit) => element("li", { class: unit.depth ? "deep" : null },
    element("a", { href: to(unit.line), "data-line": unit.line, title: `${unit.kind} ${unit.name}` }, unit.name));
  const list = element("nav", { class: "units", "aria-label": "Definitions" }, element("h2", {}, "In this file"), element("ol", {}, ...units.map(entry)));
  return [head(), element("div", { class: "sides" }, sheet, list)];
}

const markedLines = () => [...new Set([...document.querySelectorAll("#file .row mark")].map((one) => Number(one.closest(".row").dataset.line)))];

function mark({ line, to }) {
  const view = at("file");
  for (const row of [...view.getElementsByClassName("best")]) row.classList.remove("best");
  const rows = view.getElementsByClassName("row");
  const host = view.querySelector(".host");
  if (host) host.hash = line ? `#L${line}${to > line ? `-L${to}` : ""}` : "";
  const wanted = line ? rows[line - 1] : null;
  for (let at = line; at && at <= Math.max(line, to) && at <= rows.length; at += 1) rows[at - 1].classList.add("best");
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
    element("p", {}, "Ask in words or type a name. The best answer comes first."),
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

const refused = (error) => [400, 413, 422].includes(error.status);

function fail(error, again) {
  if (error.status === 401) {
    at("token-value").value = "";
    at("token-wrong").hidden = !keptToken();
    at("token").showModal();
    return;
  }
  const isOurs = refused(error);
  const what = isOurs ? "This request is not valid." : "Something went wrong.";
  const note = element("div", { class: "note" }, element(read().file ? "h1" : "p", {}, element("strong", {}, what)), element("p", {}, error.message));
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
  at("re").setAttribute("aria-pressed", String(Boolean(state.re)));
  if (document.activeElement !== at("path")) at("path").value = state.path;
  at("path").classList.toggle("set", Boolean(state.path));
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
    say(shown.status);
  }
  opened = false;
}

let last = "";

function step(by) {
  const state = read();
  if (state.file) {
    const lines = [...document.querySelectorAll(".units a")].map((link) => Number(link.dataset.line));
    const next = by > 0 ? lines.find((line) => line > state.line) : lines.findLast((line) => line < state.line);
    if (next) go({ ...state, line: next, to: 0 }, true);
    return;
  }
  const links = [...document.querySelectorAll(".hit .path")];
  const here = links.findIndex((link) => link.closest(".hit").contains(document.activeElement));
  const next = links[Math.max(0, Math.min(links.length - 1, here + by))];
  next?.focus({ preventScroll: true });
  next?.closest(".hit").scrollIntoView({ block: "nearest" });
}

function toMark(by) {
  const state = read();
  if (!state.file) return false;
  const lines = markedLines();
  const next = by > 0 ? lines.find((line) => line > state.line) : lines.findLast((line) => line < state.line);
  if (next) go({ ...state, line: next, to: 0 }, true);
  return true;
}

function wrapping() {
  const is = document.documentElement.toggleAttribute("data-wrap");
  try {
    localStorage.setItem("wrap", is ? "1" : "");
  } catch {
    // It holds for this page alone.
  }
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
const filtered = () => ({ path: at("path").value.trim(), q: box.value });
for (const [field, change] of [[box, () => ({ q: box.value, all: "" })], [at("path"), filtered]]) {
  field.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      const state = read();
      // Only what was read for a while becomes a step in the history.
      const settled = performance.now() - typed > SETTLED;
      typed = performance.now();
      go({ ...without(state), ...change(), n: RESULTS }, !state.file && Boolean(state.q || state.path) && !settled);
    }, PAUSE);
  });
}
at("re").addEventListener("click", () => {
  const state = read();
  go({ ...without(state), re: state.re ? "" : "1", n: RESULTS, q: box.value });
});
at("path").addEventListener("change", () => {
  clearTimeout(typing);
  if (read().path !== at("path").value.trim()) go({ ...without(read()), ...filtered(), n: RESULTS });
});
for (const [name, select] of Object.entries(selects)) {
  select.addEventListener("change", () => go({ ...without(read()), [name]: select.value, n: RESULTS, q: box.value }));
}
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey) return;
  const number = link.parentElement.matches("#file .row") ? Number(link.parentElement.dataset.line) : 0;
  if (event.shiftKey) {
    const { line } = read();
    if (!number || !line) return;
    event.preventDefault();
    go({ ...read(), line: Math.min(line, number), to: Math.max(line, number) }, true);
    return;
  }
  const to = new URL(link.href);
  if (to.origin !== location.origin || to.pathname !== "/" || (to.hash && !to.hash.startsWith("#L"))) return;
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
  n: () => toMark(1),
  p: () => toMark(-1),
  t: theme,
  w: wrapping,
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
  const state = read();
  const options = (select, values, count) => {
    const chosen = select.value;
    const all = chosen && !values.includes(chosen) ? [...values, chosen] : values;
    // Of a part of the results, no number says that there is none.
    const number = (value) => (count(value) ? `${count(value)}${facets.more ? "+" : ""}` : facets.more ? "" : "0");
    const text = (value) => (facets && number(value) ? `${value} (${number(value)})` : value);
    select.replaceChildren(select.options[0], ...all.map((value) => element("option", { value }, text(value))));
    select.value = chosen;
  };
  options(selects.repo, about.repositories.map((one) => one.repository), (value) => counted(value, state.lang));
  options(selects.lang, about.languages, (value) => counted(state.repo, value));
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

// What sticks below the head has to know its height.
new ResizeObserver(([head]) => {
  document.documentElement.style.setProperty("--head", `${head.borderBoxSize[0].blockSize}px`);
}).observe(document.querySelector(".top"));

begin();
