import java.util.Arrays;

/**
 * Rule: the best cell is the one whose stone builds most of one's own fives and spoils most of the opponent's.
 *
 * <p>A five is a window of five cells in a line. While it holds stones of one side only it can still become that side's
 * five, and the more stones it holds, the more the next one is worth.
 */
final class Board {
    /** Contents of a cell, as BOARD writes them. */
    static final int FREE = 0, OWN = 1, OPPONENT = 2, NEITHER = 3;

    private static final int[][] DIRECTIONS = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};

    /**
     * Worth of one more stone in a window that already holds 0 to 4 stones of one side. The steps are high, so that a
     * five comes before the stopping of one, that before an open four, and so on.
     */
    private static final long[] ATTACK = {1, 20, 900, 40_000, 4_000_000};
    private static final long[] DEFEND = {0, 15, 500, 12_000, 1_000_000};

    final int width;
    final int height;
    private final int[] cells;

    Board(int width, int height) {
        this.width = width;
        this.height = height;
        cells = new int[width * height];
    }

    void clear() {
        Arrays.fill(cells, FREE);
    }

    boolean has(int x, int y) {
        return 0 <= x && x < width && 0 <= y && y < height;
    }

    int at(int x, int y) {
        return cells[y * width + x];
    }

    void put(int x, int y, int content) {
        cells[y * width + x] = content;
    }

    /**
     * The index of the best free cell, of equals the one nearest to the middle; -1 on a full board.
     *
     * @param exact whether a line of six is no win
     */
    int bestCell(boolean exact) {
        int best = -1;
        long bestRank = Long.MIN_VALUE;
        for (int cell = 0; cell < cells.length; cell++) {
            if (cells[cell] != FREE) continue;
            int x = cell % width, y = cell / width;
            int offCentre = Math.abs(2 * x - width) + Math.abs(2 * y - height);
            long rank = score(x, y, exact) * 256 - offCentre;
            if (rank > bestRank) {
                best = cell;
                bestRank = rank;
            }
        }
        return best;
    }

    private long score(int x, int y, boolean exact) {
        long sum = 0;
        for (int[] step : DIRECTIONS) {
            for (int start = -4; start <= 0; start++) {
                sum += worth(x + start * step[0], y + start * step[1], step[0], step[1], exact);
            }
        }
        return sum;
    }

    /** The worth of one more stone in the window of five cells that begins at x, y. */
    private long worth(int x, int y, int dx, int dy, boolean exact) {
        if (!has(x, y) || !has(x + 4 * dx, y + 4 * dy)) return 0;
        int side = FREE, stones = 0;
        for (int k = 0; k < 5; k++) {
            int content = at(x + k * dx, y + k * dy);
            if (content == FREE) continue;
            if (content == NEITHER || (side != FREE && content != side)) return 0;
            side = content;
            stones++;
        }
        boolean isPartOfMore = holds(x - dx, y - dy, side) || holds(x + 5 * dx, y + 5 * dy, side);
        if (exact && stones > 0 && isPartOfMore) return 0;
        return side == OPPONENT ? DEFEND[stones] : ATTACK[stones];
    }

    private boolean holds(int x, int y, int content) {
        return has(x, y) && at(x, y) == content;
    }
}
