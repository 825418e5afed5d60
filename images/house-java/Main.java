import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Rule: the Gomocup protocol, one line at a time: read a request, answer it, flush. What to play is Board's affair. */
public final class Main {
    private static final int MIN_SIDE = 5, MAX_SIDE = 60;
    private static final String NOT_STARTED = "ERROR no START yet";

    private final BufferedReader requests;
    private Board board;
    private int rule;

    private Main(BufferedReader requests) {
        this.requests = requests;
    }

    /** Answers requests until END, or until nobody asks any more. */
    public static void main(String[] arguments) throws IOException {
        // A folder's name may be bytes of any kind: in Latin-1 none is an error.
        var reader = new InputStreamReader(System.in, StandardCharsets.ISO_8859_1);
        var agent = new Main(new BufferedReader(reader));
        String line;
        while ((line = agent.next()) != null && !line.equals("END")) {
            String answer = agent.answer(line);
            if (answer == null) continue;
            System.out.print(answer + "\r\n");
            System.out.flush();
        }
    }

    /** The next line that says something, or null at the end. */
    private String next() throws IOException {
        String line;
        do line = requests.readLine(); while (line != null && line.isBlank());
        return line == null ? null : line.strip();
    }

    /** The answer to a request, or null where none is due. */
    private String answer(String line) throws IOException {
        String[] words = line.split(" ", 2);
        String rest = words.length > 1 ? words[1] : "";
        try {
            switch (words[0]) {
                case "START": return start(Integer.parseInt(rest.strip()));
                case "RECTSTART": return start(numbers(rest));
                case "RESTART": return restart();
                case "BEGIN": return move();
                case "TURN": return turn(numbers(rest));
                case "BOARD": return readBoard();
                case "TAKEBACK": return takeBack(numbers(rest));
                case "INFO": return info(rest);
                case "ABOUT": return "name=\"house-java\", version=\"1.0\", author=\"judge\"";
                default: return "UNKNOWN command";
            }
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException unreadable) {
            return "ERROR cannot read that";
        }
    }

    private String start(int... sides) {
        int width = sides[0], height = sides[sides.length - 1];
        if (Math.min(width, height) < MIN_SIDE || Math.max(width, height) > MAX_SIDE) {
            return "ERROR board sides must be 5 to 60";
        }
        board = new Board(width, height);
        return "OK";
    }

    private String restart() {
        if (board == null) return NOT_STARTED;
        board.clear();
        return "OK";
    }

    /** Only the rule matters: a move takes no time worth limiting. */
    private String info(String rest) {
        String[] words = rest.split(" ");
        if (words[0].equals("rule")) rule = Integer.parseInt(words[1]);
        return null;
    }

    private String turn(int[] cell) {
        if (board == null) return NOT_STARTED;
        if (!board.has(cell[0], cell[1]) || board.at(cell[0], cell[1]) != Board.FREE) return "ERROR not a free cell";
        board.put(cell[0], cell[1], Board.OPPONENT);
        return move();
    }

    private String takeBack(int[] cell) {
        if (board == null) return NOT_STARTED;
        if (!board.has(cell[0], cell[1]) || board.at(cell[0], cell[1]) == Board.FREE) return "ERROR no stone there";
        board.put(cell[0], cell[1], Board.FREE);
        return "OK";
    }

    /** A whole new position, one stone a line: x, y and whose it is; DONE asks for a move. */
    private String readBoard() throws IOException {
        if (board == null) return NOT_STARTED;
        board.clear();
        String line;
        while ((line = next()) != null && !line.equals("DONE")) {
            int[] stone = numbers(line);
            if (board.has(stone[0], stone[1])) board.put(stone[0], stone[1], stone[2]);
        }
        return move();
    }

    private String move() {
        if (board == null) return NOT_STARTED;
        if (rule > 1) return "ERROR only rules 0 and 1 are supported";
        int cell = board.bestCell(rule == 1);
        if (cell < 0) return "ERROR no free cell";
        int x = cell % board.width, y = cell / board.width;
        board.put(x, y, Board.OWN);
        return x + "," + y;
    }

    /** The numbers of "x,y" or "x,y,owner". */
    private static int[] numbers(String text) {
        String[] parts = text.split(",");
        int[] found = new int[parts.length];
        for (int k = 0; k < parts.length; k++) found[k] = Integer.parseInt(parts[k].strip());
        return found;
    }
}
