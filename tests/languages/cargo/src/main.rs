//! Plays the free square of a Gomocup board that is nearest to its middle.

use first_free::first_free;
use read_words::ReadWord;
use std::io::BufRead;

include!(concat!(env!("OUT_DIR"), "/squares.rs"));

#[derive(ReadWord)]
enum Word {
    Start,
    Restart,
    About,
    Turn,
    Begin,
    Board,
    End,
}

struct Player {
    size: i32,
    taken: [bool; SQUARES.len()],
}

impl Player {
    fn new(size: i32) -> Self {
        let taken = SQUARES.map(|(x, y)| x >= size || y >= size);
        Player { size, taken }
    }

    fn play(&mut self) {
        let Some(place) = first_free(&self.taken) else { return };
        self.taken[place] = true;
        let (x, y) = SQUARES[place];
        println!("{x},{y}");
    }

    fn take(&mut self, text: &str) {
        let mut numbers = text.trim().split(',').filter_map(|number| number.parse().ok());
        if let (Some(x), Some(y)) = (numbers.next(), numbers.next()) {
            if let Some(place) = SQUARES.iter().position(|&square| square == (x, y)) {
                self.taken[place] = true;
            }
        }
    }
}

fn main() {
    let mut player = Player::new(20);
    let mut lines = std::io::stdin().lock().lines().map_while(Result::ok);
    while let Some(line) = lines.next() {
        let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match Word::read(word) {
            Some(Word::Start | Word::Restart) => {
                player = Player::new(rest.parse().unwrap_or(player.size));
                println!("OK");
            }
            Some(Word::About) => println!("name=\"cargo\""),
            Some(Word::Turn) => {
                player.take(rest);
                player.play();
            }
            Some(Word::Begin) => player.play(),
            Some(Word::Board) => {
                for stone in lines.by_ref().take_while(|line| line.trim() != "DONE") {
                    player.take(&stone);
                }
                player.play();
            }
            Some(Word::End) => return,
            None => {}
        }
    }
}
