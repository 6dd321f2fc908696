//! A server on a thread and runtime of its own, ended when its handle is dropped.

use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;

use axum::Router;
use tokio::sync::oneshot;

/// A server in the background. Its own runtime keeps it out of the client's way: what the client times is not spent on
/// the server's tasks, and dropping the handle ends every one of them, open connections too.
#[derive(Debug)]
pub(crate) struct Background {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Binds `host:port` (port 0: any free one) and serves the router that `router` makes inside the new runtime.
    pub(crate) fn start<F>(host: &str, port: u16, router: F) -> io::Result<Self>
    where
        F: FnOnce() -> Router + Send + 'static,
    {
        let listener = TcpListener::bind((host, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("exoscope-server".to_owned()).spawn(move || {
            runtime.block_on(async {
                let served = async {
                    let listener = tokio::net::TcpListener::from_std(listener)?;
                    axum::serve(listener, router()).await
                };
                until(served, stopped).await;
            });
            runtime.shutdown_background();
        })?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Serves until told to stop, or until the handle is gone.
async fn until(served: impl Future<Output = io::Result<()>>, stopped: oneshot::Receiver<()>) {
    tokio::select! {
        // axum retries what it cannot accept and never ends by itself; a listener that could not be adopted shows to the
        // client as a refused connection.
        _ended = served => (),
        _told_or_dropped = stopped => (),
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the server's thread has already been printed there.
            drop(thread.join());
        }
    }
}
