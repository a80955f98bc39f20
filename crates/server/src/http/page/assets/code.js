// Elements from plain text. Nothing here reads text as markup.

/** An element with attributes and children; strings become text. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** A line of code: its number, which links to `address`, and its runs of text. */
export function row(number, spans, address, best) {
  const text = element("span");
  for (const span of spans) {
    const [kind, run, marked] = typeof span === "string" ? ["", span] : span;
    const inner = marked ? element("mark", {}, run) : run;
    text.append(kind ? element("span", { class: kind }, inner) : inner);
  }
  const link = element("a", { href: address, tabindex: "-1", "aria-label": `line ${number}` }, String(number));
  return element("div", { class: best ? "row best" : "row", "data-line": number }, link, text);
}

/** A path with its last part set off. */
export function path(repository, whole, several) {
  const cut = whole.lastIndexOf("/") + 1;
  return [
    several && repository ? element("span", { class: "repo" }, repository) : null,
    element("span", { class: "dir" }, whole.slice(0, cut)),
    element("span", { class: "name" }, whole.slice(cut)),
  ];
}
