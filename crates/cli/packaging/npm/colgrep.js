#!/usr/bin/env node
// Runs the program that the package of this system carries.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const system = `colgrep-${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "colgrep.exe" : "colgrep";

/** The program's path, of whichever package npm has installed. */
function find() {
  for (const name of [system, `${system}-musl`]) {
    try {
      return require.resolve(`${name}/${program}`);
    } catch {
      // The next one.
    }
  }
  console.error(
    `colgrep: the package ${system} is missing. npm leaves it out with --omit=optional; ` +
      "if you didn't ask for that, there is no build for your system.",
  );
  process.exit(2);
}

const child = spawn(find(), process.argv.slice(2), { stdio: "inherit", windowsHide: true });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`colgrep: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  process.exit(signal ? 128 + constants.signals[signal] : code);
});
