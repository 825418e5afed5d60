// Rule: select a piece and move it at random.
// A starter: copy the folder and give Player your own ideas.
// Build: make (or: javac --release 11 -Xlint:all Starter.java)
// Try:   judge match . house-qchess --policy qchess-2013

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** A column and a row; (0, 0) is top left. */
final class Square {
    final int x, y;

    Square(int x, int y) {
        this.x = x;
        this.y = y;
    }

    boolean isOnBoard() {
        return x >= 0 && x < Player.SIZE && y >= 0 && y < Player.SIZE;
    }

    @Override
    public String toString() {
        return x + " " + y;
    }
}

/** Your agent. One object lives for one game, so what you want to remember goes into it. */
final class Player {
    static final int SIZE = 8;

    /** 'w' starts at the bottom and moves first, 'b' at the top. */
    final char colour;
    /** board[y][x]: 'w', 'b' or '.'. */
    final char[][] board = new char[SIZE][SIZE];
    /** The square that was announced last, and the type of its piece. */
    Square selected;
    String kind;

    private final Random dice = new Random(1); // a seed of its own: same draws of types, same game

    Player(char colour) {
        this.colour = colour;
        for (int y = 0; y < SIZE; y++) Arrays.fill(board[y], y < 2 ? 'b' : y < SIZE - 2 ? '.' : 'w');
    }

    /**
     * The square of the piece to select: one of the squares where your pieces stand. Replace this.
     *
     * <p>Only the selection tells its type. If that cannot move, your turn is over.
     */
    Square choosePiece(List<Square> squares) {
        return squares.get(dice.nextInt(squares.size()));
    }

    /** Where to move the selected piece, which is of this kind now: one of the squares. Replace this. */
    Square chooseSquare(List<Square> squares) {
        return squares.get(dice.nextInt(squares.size()));
    }

    /**
     * Either side selected the piece on a square: of its two types, number 0 or 1 showed.
     *
     * <p>On a light square (x + y even) it keeps that type; on a dark one it is open again after its turn.
     */
    void hearSelection(Square square, int index, String type) {}

    char at(Square square) {
        return board[square.y][square.x];
    }

    List<Square> ownSquares() {
        List<Square> squares = new ArrayList<>();
        for (int y = 0; y < SIZE; y++) {
            for (int x = 0; x < SIZE; x++) {
                if (board[y][x] == colour) squares.add(new Square(x, y));
            }
        }
        return squares;
    }

    /** Where the selected piece can move: onto empty squares and enemies. */
    List<Square> legalSquares() {
        List<Square> squares = new ArrayList<>();
        if (kind.equals("pawn")) addPawnSquares(squares);
        for (int dx = -1; dx <= 1; dx++) {
            for (int dy = -1; dy <= 1; dy++) {
                boolean isStraight = (dx == 0) != (dy == 0), isDiagonal = dx != 0 && dy != 0;
                switch (kind) {
                    case "king":
                        addLine(dx, dy, 1, squares);
                        break;
                    case "queen":
                        addLine(dx, dy, SIZE - 1, squares);
                        break;
                    case "rook":
                        if (isStraight) addLine(dx, dy, SIZE - 1, squares);
                        break;
                    case "bishop":
                        if (isDiagonal) addLine(dx, dy, SIZE - 1, squares);
                        break;
                    case "knight":
                        if (isDiagonal) addLine(dx, 2 * dy, 1, squares);
                        if (isDiagonal) addLine(2 * dx, dy, 1, squares);
                        break;
                    default:
                        break;
                }
            }
        }
        return squares;
    }

    /** Where a step leads when it is repeated: up to an own piece or onto an enemy's. */
    private void addLine(int dx, int dy, int most, List<Square> squares) {
        for (int n = 1; n <= most; n++) {
            var square = new Square(selected.x + dx * n, selected.y + dy * n);
            if (!square.isOnBoard() || at(square) == colour) return;
            squares.add(square);
            if (at(square) != '.') return; // captured: no further
        }
    }

    /** Straight on while that is empty, two squares from the first row; captures to the side. */
    private void addPawnSquares(List<Square> squares) {
        int forward = colour == 'w' ? -1 : 1, firstRow = colour == 'w' ? 6 : 1;
        for (int dx = -1; dx <= 1; dx += 2) {
            var side = new Square(selected.x + dx, selected.y + forward);
            if (side.isOnBoard() && at(side) != '.' && at(side) != colour) squares.add(side);
        }
        for (int n = 1; n <= (selected.y == firstRow ? 2 : 1); n++) {
            var ahead = new Square(selected.x, selected.y + forward * n);
            if (!ahead.isOnBoard() || at(ahead) != '.') return;
            squares.add(ahead);
        }
    }
}

// ---- the protocol: nothing below needs a change ----

/** Keeps the board as it is told, and answers what is asked. */
public final class Starter {
    private static final BufferedReader REQUESTS =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.ISO_8859_1));

    public static void main(String[] arguments) throws IOException {
        var player = new Player(readLine().charAt(0)); // "white" or "black"
        while (true) {
            String line = readLine();
            switch (line) {
                case "SELECTION?": say(player.choosePiece(player.ownSquares())); break;
                case "MOVE?": say(player.chooseSquare(player.legalSquares())); break;
                case "BOARD": readBoard(player); break;
                default: hear(player, line.split(" ")); break;
            }
        }
    }

    /** The next line; the end of the game and of stdin is the end of this program. */
    private static String readLine() throws IOException {
        String line = REQUESTS.readLine();
        if (line == null || line.startsWith("QUIT")) System.exit(0);
        return line.strip();
    }

    private static void say(Square square) {
        System.out.println(square);
        System.out.flush(); // or it would stay in this process
    }

    /** Takes what is told: a move "x y -> x2 y2" or a selection "x y index type", of the player and of the enemy. */
    private static void hear(Player player, String[] words) {
        if (words.length < 4) return;
        Square square = square(words[0], words[1]);
        if (words[2].equals("->")) {
            Square end = square(words[3], words[4]);
            player.board[end.y][end.x] = player.at(square);
            player.board[square.y][square.x] = '.';
        } else {
            player.selected = square;
            player.kind = words[3];
            player.hearSelection(square, Integer.parseInt(words[2]), player.kind);
        }
    }

    /** The game goes on from a position: a line for each piece, such as "white king ['king', 'king']at 3,7". */
    private static void readBoard(Player player) throws IOException {
        for (char[] row : player.board) Arrays.fill(row, '.');
        String line;
        while (!(line = readLine()).equals("END BOARD")) {
            if (line.isEmpty()) continue; // there is one
            String[] where = line.substring(line.lastIndexOf(' ') + 1).split(",");
            Square square = square(where[0], where[1]);
            player.board[square.y][square.x] = line.charAt(0);
        }
    }

    private static Square square(String x, String y) {
        return new Square(Integer.parseInt(x), Integer.parseInt(y));
    }
}
