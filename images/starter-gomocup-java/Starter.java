// Rule: make five, stop five, else lay a stone next to another at random.
// A starter: copy the folder and give Player your own ideas.
// Build: make (or: javac --release 11 -Xlint:all Starter.java)
// Try:   judge match . house-instant --policy gomocup-standard:fast

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

/** A column and a row, both from 0; or a step in a direction. */
final class Point {
    final int x, y;

    Point(int x, int y) {
        this.x = x;
        this.y = y;
    }

    @Override
    public String toString() {
        return x + "," + y;
    }
}

/** Your agent: the position, and a move for it. */
final class Player {
    /** What BOARD counts stones as; a 3 is a stone of nobody. */
    static final int FREE = 0, OWN = 1, OTHER = 2;
    /** The bits of INFO rule; without any of them five or more win. */
    static final int EXACT = 1, RENJU = 4, CARO = 8;

    private static final List<Point> DIRECTIONS =
            List.of(new Point(1, 0), new Point(0, 1), new Point(1, 1), new Point(1, -1));

    /** board[y][x]: FREE, OWN, OTHER or 3; null before START. */
    int[][] board;

    int rule;
    /** Milliseconds that you have for each move ... */
    long turnMs = 30_000;
    /** ... and for all that follow. */
    long leftMs = 180_000;

    private final Random dice = new Random(1); // a seed of its own: the same game can be played again

    /** Your move: one of the points, where you may play, at least one. Replace this. */
    Point chooseMove(List<Point> points) {
        for (int side : new int[] {OWN, OTHER}) {
            for (Point point : points) {
                if (makesFive(point, side)) return point;
            }
        }
        List<Point> near = points.stream().filter(this::isNear).collect(Collectors.toList());
        List<Point> choice = near.isEmpty() ? points : near;
        return choice.get(dice.nextInt(choice.size()));
    }

    /** The first three stones of swap2: black, white, black. The other then chooses a colour. */
    List<Point> chooseOpening() {
        int x = board[0].length / 2, y = board.length / 2;
        return List.of(new Point(x, y), new Point(x + 1, y), new Point(x - 1, y + 2));
    }

    /** In swap2 three or five stones lie and you are white, to move: whether to be black instead. */
    boolean wantsSwap() {
        return false;
    }

    /** The free points; for Black in renju those that are surely allowed, while there are any. */
    List<Point> legalPoints() {
        List<Point> free = new ArrayList<>();
        for (int y = 0; y < board.length; y++) {
            for (int x = 0; x < board[y].length; x++) {
                if (board[y][x] == FREE) free.add(new Point(x, y));
            }
        }
        if ((rule & RENJU) == 0 || !isBlack(OWN)) return free;
        List<Point> safe = free.stream()
                .filter(point -> makesFive(point, OWN) || !mayBeFoul(point))
                .collect(Collectors.toList());
        return safe.isEmpty() ? free : safe;
    }

    /** Whether a side moved first. It is your turn: if both have as many stones, you did. */
    boolean isBlack(int side) {
        int lead = 0;
        for (int[] row : board) {
            for (int stone : row) lead += stone == OWN ? 1 : stone == OTHER ? -1 : 0;
        }
        return (side == OWN) == (lead == 0);
    }

    /** Whether a stone of this side on a free point wins. */
    boolean makesFive(Point point, int side) {
        int enemy = OWN + OTHER - side;
        for (Point to : DIRECTIONS) {
            int ahead = run(point, to, 1, side), behind = run(point, to, -1, side), length = 1 + ahead + behind;
            boolean isBlocked =
                    (rule & CARO) != 0 && at(point, to, ahead + 1) == enemy && at(point, to, -behind - 1) == enemy;
            if (length == 5 && !isBlocked) return true;
            boolean isExact = (rule & EXACT) != 0 || ((rule & RENJU) != 0 && isBlack(side));
            if (length > 5 && !isExact) return true;
        }
        return false;
    }

    /** How many stones of a side follow each other from a point on; sign is 1 along the direction, -1 against it. */
    private int run(Point point, Point to, int sign, int side) {
        int length = 0;
        while (at(point, to, sign * (length + 1)) == side) length++;
        return length;
    }

    /**
     * Whether your stone might be a foul of Black's in renju; if this says no, it is none.
     *
     * <p>A three takes two more stones within four steps on a line, a four three; two fours or a six on one line four.
     * So this gives up fair points too: a stronger agent looks at the shapes themselves.
     */
    private boolean mayBeFoul(Point point) {
        int lines = 0;
        for (Point to : DIRECTIONS) {
            int stones = 0;
            for (int n = -4; n <= 4; n++) {
                if (n != 0 && at(point, to, n) == OWN) stones++;
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
        Point there = new Point(point.x + to.x * steps, point.y + to.y * steps);
        return has(there) ? board[there.y][there.x] : FREE;
    }

    boolean has(Point point) {
        return point.y >= 0 && point.y < board.length && point.x >= 0 && point.x < board[point.y].length;
    }
}

// ---- the protocol: nothing below needs a change but the names in ABOUT ----

/** Answers Gomocup one command at a time. */
public final class Starter {
    private static final String ABOUT = "name=\"starter\", version=\"1.0\", author=\"me\", country=\"XY\"";
    private static final int MIN_SIDE = 5, MAX_SIDE = 60;

    private final BufferedReader requests;
    private final Player player = new Player();

    private Starter(BufferedReader requests) {
        this.requests = requests;
    }

    /** Answers until END, or until nobody asks any more. */
    public static void main(String[] arguments) throws IOException {
        // A folder's name may be bytes of any kind: in Latin-1 none is an error.
        var input = new InputStreamReader(System.in, StandardCharsets.ISO_8859_1);
        var starter = new Starter(new BufferedReader(input));
        String line;
        while ((line = starter.readLine()) != null && !line.equals("END")) {
            String answer;
            try {
                answer = starter.answer(line);
            } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException error) {
                answer = "ERROR " + error.getMessage();
            }
            if (answer == null) continue;
            System.out.println(answer);
            System.out.flush(); // or it would stay in this process
        }
    }

    /** The next line that says something, or null at the end of stdin. */
    private String readLine() throws IOException {
        String line;
        do line = requests.readLine(); while (line != null && line.isBlank());
        return line == null ? null : line.strip(); // lines may end with CR LF
    }

    /** The answer to a command, or null where none is due; an exception's text goes behind ERROR. */
    private String answer(String line) throws IOException {
        String[] words = line.split(" ", 2);
        String rest = words.length > 1 ? words[1] : "";
        if (words[0].equals("INFO")) return info(rest);
        if (words[0].equals("ABOUT")) return ABOUT;
        if (words[0].equals("START")) return start(numbers(rest)[0], numbers(rest)[0]);
        if (words[0].equals("RECTSTART")) return start(numbers(rest)[0], numbers(rest)[1]);
        if (player.board == null) return "ERROR no START yet";
        switch (words[0]) {
            case "RESTART": return restart();
            case "BEGIN": return move();
            case "TURN": return turn(point(rest));
            case "BOARD": return readBoard(readRows());
            case "SWAP2BOARD": return readSwap2(readRows());
            case "TAKEBACK": return takeBack(point(rest));
            default: return "UNKNOWN command";
        }
    }

    /** Facts, which are never answered. There are also max_memory in bytes, and folder: a place for files. */
    private String info(String rest) {
        String[] words = rest.split(" ");
        if (words.length != 2 || !words[1].matches("-?\\d{1,10}")) return null;
        long value = Long.parseLong(words[1]);
        switch (words[0]) {
            case "rule": player.rule = (int) value; break;
            case "timeout_turn": player.turnMs = value; break;
            case "time_left": player.leftMs = value; break;
            default: break;
        }
        return null;
    }

    private String start(int width, int height) {
        if (Math.min(width, height) < MIN_SIDE || Math.max(width, height) > MAX_SIDE) {
            throw new IllegalArgumentException("board sides must be 5 to 60");
        }
        player.board = new int[height][width];
        return "OK";
    }

    private String restart() {
        for (int[] row : player.board) Arrays.fill(row, Player.FREE);
        return "OK";
    }

    private String turn(Point point) {
        put(point, Player.OTHER);
        return move();
    }

    /** A whole position, one stone a line, in place of the one before. */
    private String readBoard(List<String> rows) {
        restart();
        for (String row : rows) put(point(row), numbers(row)[2]);
        return move();
    }

    /** The opening: lay three stones; answer three or five by SWAP, or as White by a stone. */
    private String readSwap2(List<String> rows) {
        restart();
        int number = 0;
        for (String row : rows) put(point(row), number++ % 2 == 0 ? Player.OTHER : Player.OWN);
        if (!rows.isEmpty()) return player.wantsSwap() ? "SWAP" : move();
        return player.chooseOpening().stream().map(Point::toString).collect(Collectors.joining(" "));
    }

    private String takeBack(Point point) {
        if (!player.has(point)) throw new IllegalArgumentException("not on the board");
        player.board[point.y][point.x] = Player.FREE;
        return "OK";
    }

    private String move() {
        List<Point> points = player.legalPoints();
        if (points.isEmpty()) throw new IllegalArgumentException("no free point");
        Point point = player.chooseMove(points);
        put(point, Player.OWN);
        return point.toString();
    }

    private void put(Point point, int stone) {
        if (!player.has(point) || player.board[point.y][point.x] != Player.FREE) {
            throw new IllegalArgumentException("not a free point");
        }
        player.board[point.y][point.x] = stone;
    }

    /** The lines up to DONE. All are read before anything else, so that none is taken for a command. */
    private List<String> readRows() throws IOException {
        List<String> rows = new ArrayList<>();
        String line;
        while ((line = readLine()) != null && !line.equals("DONE")) rows.add(line);
        return rows;
    }

    private static Point point(String text) {
        return new Point(numbers(text)[0], numbers(text)[1]);
    }

    /** The numbers of "20", "x,y" or "x,y,who". */
    private static int[] numbers(String text) {
        return Arrays.stream(text.split(",")).map(String::strip).mapToInt(Integer::parseInt).toArray();
    }
}
