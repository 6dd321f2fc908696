//! Serves a recorded session as a server, so that a client can be held against real traffic without the machine it came from.
//!
//! - [`source`] tells what a file is; [`unpacked`] gives its bytes.
//! - [`session`] reads a recording: what was asked, what was answered, when each chunk came.
//! - [`cursor`] decides which recorded answer a request gets: in order, and never past the life cycle it belongs to.
//! - [`timeline`] is the other kind of recording: one answer of one engine, piece by piece.
//! - [`server`] puts them behind an address; [`paced`] sends each piece when it is due.

pub mod cursor;
mod paced;
pub mod server;
pub mod session;
pub mod source;
pub mod timeline;
pub mod unpacked;

pub use crate::capture::recording::recorded::Ended;
pub use cursor::is_polling;
pub use server::{Pace, Running, serve, start};
pub use session::{Exchange, LoadError, Received, Session};
pub use source::Source;
pub use timeline::Timeline;
pub use unpacked::Unpacked;
