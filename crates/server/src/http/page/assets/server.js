// What the page asks of the server.

/** What the server refuses, in its words. */
export class Problem extends Error {
  constructor(status, detail, code) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** The token that this tab keeps; null without one. */
export function keptToken() {
  try {
    return sessionStorage.getItem("token");
  } catch {
    return null;
  }
}

/** Keeps the token until the tab is closed. */
export function keepToken(value) {
  sessionStorage.setItem("token", value);
}

/** Asks; `parameters` go as JSON. Resolves to the answer, or rejects with a Problem. */
export async function ask(path, parameters, signal) {
  const headers = {};
  const token = keptToken();
  if (token) headers.Authorization = `Bearer ${token}`;
  const options = { headers, signal, method: parameters ? "POST" : "GET", credentials: "omit" };
  if (parameters) {
    headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(parameters);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The server does not answer. Is colgrep serve still running?", "silent");
  }
  if (response.ok) return response.json();
  const problem = await response.json().catch(() => ({}));
  throw new Problem(response.status, problem.detail ?? response.statusText, problem.code ?? "failed");
}
