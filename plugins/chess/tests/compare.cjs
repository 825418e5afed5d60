// Reads a game on each line: {"fen": ..., "moves": [...], "illegal": ...}. Prints what chess.js finds in each position, and
// whether it refuses the illegal move at the end.
const { Chess } = require("chess.js");
const found = (board) => ({
  moves: board.moves().sort(),
  ends: [
    ["checkmate", board.isCheckmate()],
    ["stalemate", board.isStalemate()],
    ["insufficient material", board.isInsufficientMaterial()],
    ["50 moves without capture or pawn move", board.isDrawByFiftyMoves()],
    ["threefold repetition", board.isThreefoldRepetition()],
  ].filter(([, is]) => is).map(([name]) => name),
});
const lines = require("fs").readFileSync(0, "utf8").split("\n").filter(Boolean);
for (const line of lines) {
  const game = JSON.parse(line);
  const board = new Chess(game.fen);
  const positions = [found(board)];
  for (const move of game.moves) {
    board.move(move);
    positions.push(found(board));
  }
  let refused = false;
  try {
    board.move(game.illegal);
  } catch {
    refused = true;
  }
  console.log(JSON.stringify({ positions, refused }));
}
