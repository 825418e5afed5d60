package player;

import board.Board;
import java.util.Scanner;
import words.Words;

/** Plays the first free square of a Gomocup board; words come from a library. */
final class Main {
    public static void main(String[] arguments) {
        int size = 20;
        Board board = new Board(size);
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            Words words = new Words(lines.nextLine());
            switch (words.first) {
                case "START":
                    size = words.numbers()[0];
                case "RESTART":
                    board = new Board(size);
                    System.out.println("OK");
                    break;
                case "ABOUT":
                    System.out.println("name=\"java\"");
                    break;
                case "TURN":
                    board.take(words.numbers()[0], words.numbers()[1]);
                case "BEGIN":
                    System.out.println(board.move());
                    break;
                case "BOARD":
                    for (String line = lines.nextLine(); !line.trim().equals("DONE"); line = lines.nextLine()) {
                        int[] stone = new Words("STONE " + line.trim()).numbers();
                        board.take(stone[0], stone[1]);
                    }
                    System.out.println(board.move());
                    break;
                case "END":
                    return;
                default:
            }
        }
    }
}
