// Plays the first free square of a Gomocup board.
const readline = require("readline");

let size = 20;
let taken = new Set();
let isBoard = false;

function move() {
  for (let x = 0; x < size; x++) {
    for (let y = 0; y < size; y++) {
      if (!taken.has(`${x},${y}`)) {
        taken.add(`${x},${y}`);
        return `${x},${y}`;
      }
    }
  }
}

const take = (text) => taken.add(text.split(",").slice(0, 2).join(","));

function answer(line) {
  if (isBoard) {
    if (line !== "DONE") return void take(line);
    isBoard = false;
    return move();
  }
  const [word, rest] = line.split(" ");
  switch (word) {
    case "START":
    case "RESTART":
      size = Number(rest || size);
      taken = new Set();
      return "OK";
    case "ABOUT":
      return 'name="node"';
    case "TURN":
      take(rest);
      return move();
    case "BEGIN":
      return move();
    case "BOARD":
      isBoard = true;
      return;
    case "END":
      process.exit();
  }
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const said = answer(line.trim());
  if (said) process.stdout.write(`${said}\n`);
});
