//! Shows the cache of compiled programs, or clears it.
//!
//! ```text
//! cargo run --example cache            # the folder, the number of programs, their total size
//! cargo run --example cache -- clear
//! ```

use accel::cache;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        None => {}
        Some("clear") => cache::clear()?,
        Some(other) => return Err(format!("expected `clear` or nothing, found `{other}`").into()),
    }
    match cache::usage()? {
        Some(cache) => println!("{}\n{} programs\n{} bytes", cache.folder.display(), cache.entries, cache.bytes),
        None => println!("no folder can be used"),
    }
    Ok(())
}
