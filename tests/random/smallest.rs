//! What a random program that fails is reduced to, and panics as messages.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// The smallest failing program that single shrinking steps lead to, with its message. `fails` judges at most this number of programs.
pub fn smallest<P>(
    mut p: P,
    mut message: String,
    most: usize,
    candidates: impl Fn(&P) -> Vec<P>,
    mut fails: impl FnMut(&P) -> Option<String>,
) -> (P, String) {
    let mut attempts = 0;
    loop {
        let next = candidates(&p).into_iter().take(most - attempts).find_map(|q| {
            attempts += 1;
            // A shrinking step that fails in another way may have found another error.
            Some((fails(&q)?, q))
        });
        match next {
            Some((m, q)) => (p, message) = (q, m),
            None => return (p, message),
        }
    }
}

/// What a function returns, or the message of its panic.
pub fn guarded<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        format!("panic: {}", text.unwrap_or("without a message"))
    })
}
