//! The squares of a board in the order of their distance from its middle.

/// All squares of a board of this size as x and y, the nearest to the middle first.
pub fn squares(size: usize) -> Vec<(i32, i32)> {
    let size = size as i32;
    let mut found: Vec<(i32, i32)> = (0..size * size).map(|at| (at % size, at / size)).collect();
    found.sort_by_key(|(x, y)| ((2 * x - size + 1).abs().max((2 * y - size + 1).abs()), *y, *x));
    found
}
