//! Writes the squares of a board as a table, those in the middle first.

use std::path::Path;

const SIZE: usize = 20;

fn main() {
    let squares = from_the_middle::squares(SIZE);
    let table = format!("pub static SQUARES: [(i32, i32); {}] = {squares:?};\n", SIZE * SIZE);
    let folder = std::env::var("OUT_DIR").unwrap();
    std::fs::write(Path::new(&folder).join("squares.rs"), table).unwrap();
    println!("cargo:rerun-if-changed=build.rs");
}
