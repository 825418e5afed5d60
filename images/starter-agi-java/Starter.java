// Rule: make five, stop five, else lay a stone next to another at random.
// A starter: copy the folder and give Player your own ideas.
// Build: make (or: javac --release 11 -Xlint:all Starter.java)
// Try:   judge match . house-agi-instant --policy agi-renju

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

/** A row and a column, both from 0 at the top left; or a step in a direction. */
final class Point {
    final int row, column;

    Point(int row, int column) {
        this.row = row;
        this.column = column;
    }

    /** The points of "786869", three: a row 0 to E from the top and a column 1 to F from the left, hexadecimal. */
    static List<Point> read(String text) {
        List<Point> points = new ArrayList<>();
        for (int i = 0; i + 1 < text.length(); i += 2) {
            points.add(new Point(Character.digit(text.charAt(i), 16), Character.digit(text.charAt(i + 1), 16) - 1));
        }
        return points;
    }

    @Override
    public String toString() {
        return String.format("%X%X", row, column + 1);
    }
}

/** Your agent: the position, and a move for it. */
final class Player {
    static final int SIDE = 15, MIDDLE = SIDE / 2;
    static final int FREE = 0, BLACK = 1, WHITE = 2;

    private static final List<Point> DIRECTIONS =
            List.of(new Point(1, 0), new Point(0, 1), new Point(1, 1), new Point(1, -1));

    /** board[row][column]: FREE, BLACK or WHITE. */
    int[][] board = new int[SIDE][SIDE];
    /** How many stones lie. The first, third, ... is black: Black moves where this is even. */
    int count;
    /** The words of SETRULE. FORBIDDEN: renju, Black's fouls lose. UNFORBIDDEN: five or more win. */
    Set<String> rules = Set.of("FORBIDDEN");
    /** Milliseconds that you have for this move. */
    int leftMs = 1000;

    private final Random dice = new Random(1); // a seed of its own: the same game can be played again

    /** Your move: one of the points, where you may play, at least one. Replace this. */
    Point chooseMove(List<Point> points) {
        int colour = count % 2 == 0 ? BLACK : WHITE, other = BLACK + WHITE - colour;
        for (int side : new int[] {colour, other}) {
            for (Point point : points) {
                if (makesFive(point, side)) return point;
            }
        }
        List<Point> near = points.stream().filter(this::isNear).collect(Collectors.toList());
        List<Point> choice = near.isEmpty() ? points : near;
        return choice.get(dice.nextInt(choice.size()));
    }

    /** The other laid one stone (FIRSTCHANGE) or three (THIRDCHANGE), you are White: whether to be Black instead. */
    boolean wantsChange() {
        return false;
    }

    /** You are White and four stones lie: which of the points, the fifth stones that Black offers, may stay. */
    Point chooseFifth(List<Point> points) {
        return points.get(0);
    }

    /**
     * The free points; for Black in renju those that are surely allowed, while there are any.
     *
     * <p>The first stone goes to the middle, the second and third near it, as in renju's 26 openings.
     */
    List<Point> legalPoints() {
        List<Point> free = new ArrayList<>();
        int reach = count < 3 ? count : MIDDLE;
        for (int row = MIDDLE - reach; row <= MIDDLE + reach; row++) {
            for (int column = MIDDLE - reach; column <= MIDDLE + reach; column++) {
                if (board[row][column] == FREE) free.add(new Point(row, column));
            }
        }
        if (!rules.contains("FORBIDDEN") || count % 2 != 0) return free;
        List<Point> safe = free.stream()
                .filter(point -> makesFive(point, BLACK) || !mayBeFoul(point))
                .collect(Collectors.toList());
        return safe.isEmpty() ? free : safe;
    }

    /** Whether a stone of this side on a free point wins. */
    boolean makesFive(Point point, int side) {
        boolean isExact = rules.contains("FORBIDDEN") && side == BLACK;
        return DIRECTIONS.stream().anyMatch(to -> {
            int length = 1 + run(point, to, 1, side) + run(point, to, -1, side);
            return length == 5 || (length > 5 && !isExact);
        });
    }

    /** How many stones of a side follow each other from a point on; sign is 1 along the direction, -1 against it. */
    private int run(Point point, Point to, int sign, int side) {
        int length = 0;
        while (at(point, to, sign * (length + 1)) == side) length++;
        return length;
    }

    /**
     * Whether a black stone might be a foul of renju; if this says no, it is none.
     *
     * <p>A three takes two more stones within four steps on a line, a four three; two fours or a six on one line four.
     * So this gives up fair points too: a stronger agent looks at the shapes themselves.
     */
    private boolean mayBeFoul(Point point) {
        int lines = 0;
        for (Point to : DIRECTIONS) {
            int stones = 0;
            for (int n = -4; n <= 4; n++) {
                if (n != 0 && at(point, to, n) == BLACK) stones++;
            }
            if (stones > 3) return true;
            if (stones > 1) lines++;
        }
        return lines > 1;
    }

    /** Whether a stone lies next to a point. */
    private boolean isNear(Point point) {
        return DIRECTIONS.stream().anyMatch(to -> at(point, to, 1) != FREE || at(point, to, -1) != FREE);
    }

    /** What lies some steps from a point; beyond the edge lies no stone. */
    private int at(Point point, Point to, int steps) {
        int row = point.row + to.row * steps, column = point.column + to.column * steps;
        return row >= 0 && row < SIDE && column >= 0 && column < SIDE ? board[row][column] : FREE;
    }
}

// ---- the protocol: nothing below needs a change but the name in ID ----

/** Hears AGI one line at a time and answers what asks for it. */
public final class Starter {
    private final Player player = new Player();
    private boolean isOffering; // you are Black, and your fifth stones are asked for

    /** Answers until QUIT, or until nobody asks any more. */
    public static void main(String[] arguments) throws IOException {
        var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.ISO_8859_1));
        var starter = new Starter();
        String line;
        while ((line = requests.readLine()) != null) {
            String[] words = line.strip().toUpperCase(Locale.ROOT).split("\\s+");
            if (words[0].equals("QUIT")) {
                say("BYE");
                return;
            }
            starter.hear(words);
        }
    }

    private static void say(String answer) {
        System.out.println(answer);
        System.out.flush(); // or it would stay in this process
    }

    /**
     * Other words, SETOPTION and STOP among them, mean nothing to who answers at once.
     *
     * <p>Who thinks longer also reads on while it thinks: ISREADY and STOP may come then.
     */
    private void hear(String[] words) {
        switch (words[0]) {
            case "AGI": say("ID NAME starter\nOPTION OWNBOOK FALSE PONDER FALSE\nAGIOK"); break;
            case "ISREADY": say("READYOK"); break;
            case "SETRULE": player.rules = Set.copyOf(List.of(words)); break;
            case "POSITION": setPosition(words); break;
            case "DOMOVE": lay(words[1]); break; // your own stones come so as well
            case "GO": say("BESTMOVE " + decide(words)); break;
            default: break;
        }
    }

    /** All stones in order, behind STATU and MOVES; none where both are missing. */
    private void setPosition(String[] words) {
        player.board = new int[Player.SIDE][Player.SIDE];
        player.count = 0;
        for (int i = 2; i < words.length; i += 2) lay(words[i]);
    }

    private void lay(String text) {
        for (Point point : Point.read(text)) {
            player.board[point.row][point.column] = player.count++ % 2 == 0 ? Player.BLACK : Player.WHITE;
        }
    }

    /** The answer to "GO TIME ms" or "GO SEARCH points TIME ms": a point, or CHANGE. */
    private String decide(String[] words) {
        if (words.length > 2) player.leftMs = Integer.parseInt(words[words.length - 1]);
        if (words.length > 2 && words[1].equals("SEARCH")) {
            List<Point> points = Point.read(words[2]);
            // The fifths are named to both: to Black those that may still be offered, to White those that were.
            boolean hasFifths = player.rules.contains("FIVETWINE") || player.rules.contains("FIVEMULITY");
            boolean isChoice = player.count == 4 && !isOffering && hasFifths;
            return (isChoice ? player.chooseFifth(points) : player.chooseMove(points)).toString();
        }
        isOffering = player.count == 4;
        if (mayChange() && player.wantsChange()) return "CHANGE";
        return player.chooseMove(player.legalPoints()).toString();
    }

    /** Whether you may take black. The word goes from the rules when that has been decided. */
    private boolean mayChange() {
        return (player.count == 1 && player.rules.contains("FIRSTCHANGE"))
                || (player.count == 3 && player.rules.contains("THIRDCHANGE"));
    }
}
