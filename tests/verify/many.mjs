// Runs a program that prints once, again and again in one process: `node many.mjs PROGRAM`. Each line of stdin is a JSON
// list of arguments; each line of stdout has the exit code and what was printed.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const program = process.argv[2], address = pathToFileURL(program).href;
let number = 0;
for await (const line of createInterface({ input: process.stdin })) {
  process.argv = [process.argv[0], program, ...JSON.parse(line)];
  const said = { stdout: "", stderr: "" };
  const printed = new Promise((resolve) => {
    const into = (name) => (text) => {
      said[name] += `${text}\n`;
      setImmediate(resolve); // the exit code is set after that
    };
    Object.assign(console, { log: into("stdout"), error: into("stderr") });
  });
  process.exitCode = 0;
  await import(`${address}?${++number}`); // a new module each time
  await printed;
  process.stdout.write(`${JSON.stringify({ code: process.exitCode, ...said })}\n`);
}
