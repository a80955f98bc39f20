// Keys: what each does is said by the caller.

/** Whether keys belong to what has the focus. */
function isTyping(target) {
  return target.matches("input, textarea, select") || target.isContentEditable;
}

/** Calls `actions[key]` for keys outside of boxes, and `actions.escape` and `actions.down` everywhere. */
export function listen(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
    const typing = isTyping(event.target);
    let action;
    if (event.key === "Escape") action = actions.escape;
    else if (typing) action = event.key === "ArrowDown" && event.target.matches("input") ? actions.down : undefined;
    else action = actions[event.key];
    if (action && action(event) !== false) event.preventDefault();
  });
}
