package player;

/** Compiles nowhere: tests of an author are not run here. */
final class MainTest extends org.example.NotThere {}
