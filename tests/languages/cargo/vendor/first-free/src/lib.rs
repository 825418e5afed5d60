//! Where the first free place is.

extern "C" {
    fn first_free_of(taken: *const bool, count: usize) -> usize;
}

/// The first place that is not taken; none if all are.
pub fn first_free(taken: &[bool]) -> Option<usize> {
    // SAFETY: the C function reads `count` values from there.
    let place = unsafe { first_free_of(taken.as_ptr(), taken.len()) };
    (place < taken.len()).then_some(place)
}
