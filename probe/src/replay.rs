//! Serves a recorded session as a server, so that a client can be held against real traffic without the machine it came from.
//!
//! - [`session`] reads a recording: what was asked, what was answered, when each chunk came.
//! - [`cursor`] decides which recorded answer a request gets: in order, and never past the life cycle it belongs to.
//! - [`server`] puts both behind an address.

pub mod cursor;
pub mod server;
pub mod session;

pub use cursor::is_polling;
pub use server::{Pace, Running, start};
pub use session::{Exchange, LoadError, Received, Session};
