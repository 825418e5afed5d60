package board;

/** A board, and its first free square. */
public final class Board {
    private final boolean[][] taken;

    public Board(int size) {
        taken = new boolean[size][size];
    }

    public void take(int x, int y) {
        taken[x][y] = true;
    }

    public String move() {
        for (int x = 0; x < taken.length; x++)
            for (int y = 0; y < taken.length; y++)
                if (!taken[x][y]) {
                    taken[x][y] = true;
                    return x + "," + y;
                }
        throw new IllegalStateException("the board is full");
    }
}
