// Rule: play any legal half-move, by chance. A starter: copy the folder, think for Player, and set up SETUP anew.
// Build: make (or: javac --release 11 -Xlint:all Starter.java)
// Try:   judge match . house-stratego --policy stratego-2012

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Where a half-move goes, in the protocol's words. */
enum Direction {
    UP(0, -1),
    DOWN(0, 1),
    LEFT(-1, 0),
    RIGHT(1, 0);

    final int dx, dy;

    Direction(int dx, int dy) {
        this.dx = dx;
        this.dy = dy;
    }
}

/** A half-move: steps are more than 1 for a Scout only. */
final class Move {
    final int x, y, steps;
    final Direction direction;

    Move(int x, int y, Direction direction, int steps) {
        this.x = x;
        this.y = y;
        this.direction = direction;
        this.steps = steps;
    }

    @Override
    public String toString() {
        return x + " " + y + " " + direction + (steps == 1 ? "" : " " + steps);
    }
}

/** Your agent. One object lives for one game, so what you want to remember goes into it. */
final class Player {
    static final int SIZE = 10;

    /**
     * Your 40 pieces as RED sees them, the back row first: one each of 1 2 s F, two 3, three 4, four each of 5 6 7, five
     * 8, eight 9, six B. Don't lock pieces in behind bombs: without a legal move you lose (2012).
     */
    static final String[] SETUP = {
        "8BFB887B95",
        "78B9s78B69",
        "6549B63754",
        "9236195499",
    };

    final boolean isRed;
    /** board[y].charAt(x): a letter of your own, # an enemy, + a lake, . empty; row 0 is RED's back row. */
    final String[] board = new String[SIZE];

    private final Random dice = new Random(1); // a seed of its own: the same game can be played again

    Player(boolean isRed) {
        this.isRed = isRed;
    }

    /** Your move: one of the moves, which are the legal ones and at least one. Replace this. */
    Move chooseMove(List<Move> moves) {
        return moves.get(dice.nextInt(moves.size()));
    }

    /**
     * What became of a half-move, yours and the enemy's in turn: "4 3 DOWN OK", "4 4 DOWN KILLS 3 7".
     *
     * <p>Behind KILLS, DIES and BOTHDIE stand the attacker and the defender: this is how you learn ranks.
     */
    void hearConfirmation(String line) {}

    List<Move> legalMoves() {
        List<Move> moves = new ArrayList<>();
        for (int y = 0; y < SIZE; y++) {
            for (int x = 0; x < SIZE; x++) {
                if (!isMovable(at(x, y))) continue;
                for (Direction direction : Direction.values()) addMoves(x, y, direction, moves);
            }
        }
        return moves;
    }

    /** 1 Marshal, 2 General ... 8 Miner, 9 Scout, s Spy; B (Bomb) and F (Flag) stay. */
    private static boolean isMovable(char piece) {
        return "123456789s".indexOf(piece) >= 0;
    }

    /** One step, or any number for a Scout until something is in its way. */
    private void addMoves(int x, int y, Direction direction, List<Move> moves) {
        int most = at(x, y) == '9' ? SIZE - 1 : 1;
        for (int steps = 1; steps <= most; steps++) {
            char content = at(x + direction.dx * steps, y + direction.dy * steps);
            if (content == '.' || content == '#') moves.add(new Move(x, y, direction, steps));
            if (content != '.') return; // nobody jumps
        }
    }

    /** What stands on a square; beyond the edge is nothing to go to either, like a lake. */
    private char at(int x, int y) {
        return x >= 0 && x < SIZE && y >= 0 && y < SIZE ? board[y].charAt(x) : '+';
    }
}

// ---- the protocol: nothing below needs a change ----

/** Sets up, then answers each board by a half-move. */
public final class Starter {
    private static final BufferedReader REQUESTS =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.ISO_8859_1));

    public static void main(String[] arguments) throws IOException {
        var player = new Player(readLine().startsWith("RED")); // "RED opponent 10 10"
        for (int row = 0; row < 4; row++) say(Player.SETUP[player.isRed ? row : 3 - row]);
        String first = readLine(); // START for RED, who moves first
        if (!player.isRed) player.hearConfirmation(first);
        while (true) {
            for (int y = 0; y < Player.SIZE; y++) player.board[y] = readLine();
            say(answer(player));
            player.hearConfirmation(readLine());
            player.hearConfirmation(readLine());
        }
    }

    /** The next line; the end of the game and of stdin is the end of this program. */
    private static String readLine() throws IOException {
        String line = REQUESTS.readLine();
        if (line == null || line.startsWith("QUIT")) System.exit(0);
        return line.strip();
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush(); // or it would stay in this process
    }

    private static String answer(Player player) {
        List<Move> moves = player.legalMoves();
        if (moves.isEmpty()) return "NO_MOVE"; // under the rules of 2012 the game ends before that
        return player.chooseMove(moves).toString();
    }
}
