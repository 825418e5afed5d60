//! Plays the first free square of a Gomocup board.

use first_free::first_free;
use std::collections::HashSet;
use std::io::BufRead;

struct Player {
    size: i32,
    taken: HashSet<(i32, i32)>,
}

impl Player {
    fn play(&mut self) {
        let Some((x, y)) = first_free(self.size, &self.taken) else { return };
        self.taken.insert((x, y));
        println!("{x},{y}");
    }

    fn take(&mut self, text: &str) {
        let mut numbers = text.trim().split(',').filter_map(|number| number.parse().ok());
        if let (Some(x), Some(y)) = (numbers.next(), numbers.next()) {
            self.taken.insert((x, y));
        }
    }
}

fn main() {
    let mut player = Player { size: 20, taken: HashSet::new() };
    let mut lines = std::io::stdin().lock().lines().map_while(Result::ok);
    while let Some(line) = lines.next() {
        let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match word {
            "START" | "RESTART" => {
                player = Player { size: rest.parse().unwrap_or(player.size), taken: HashSet::new() };
                println!("OK");
            }
            "ABOUT" => println!("name=\"cargo\""),
            "TURN" => {
                player.take(rest);
                player.play();
            }
            "BEGIN" => player.play(),
            "BOARD" => {
                for stone in lines.by_ref().take_while(|line| line.trim() != "DONE") {
                    player.take(&stone);
                }
                player.play();
            }
            "END" => return,
            _ => {}
        }
    }
}
