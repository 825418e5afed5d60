//! The first square that nobody took.

use std::collections::HashSet;

pub fn first_free(size: i32, taken: &HashSet<(i32, i32)>) -> Option<(i32, i32)> {
    (0..size).flat_map(|x| (0..size).map(move |y| (x, y))).find(|square| !taken.contains(square))
}
