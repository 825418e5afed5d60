package words;

/** A line that a manager of Gomoku wrote: its first word, and the rest. */
public final class Words {
    public final String first, rest;

    public Words(String line) {
        String[] parts = line.trim().split(" ", 2);
        first = parts[0];
        rest = parts.length > 1 ? parts[1] : "";
    }

    /** The numbers in the rest, between commas. */
    public int[] numbers() {
        return java.util.Arrays.stream(rest.split(",")).mapToInt(Integer::parseInt).toArray();
    }
}
