//! What verbs that serve have in common: a port, the line that says so, and the wish to end.

use std::io::Write as _;

use tokio::net::TcpListener;

use super::CliError;

/// Listens, and prints where. The future beside the listener is over when the program is asked to end.
pub(super) async fn listen(host: &str, port: u16) -> Result<(TcpListener, impl Future<Output = ()> + use<>), CliError> {
    let listener = TcpListener::bind((host, port)).await.map_err(|error| {
        CliError::failed(format!(
            "cannot listen on {host}:{port}: {error}; choose another --port, or 0 for any free one"
        ))
    })?;
    let address = listener.local_addr().map_err(CliError::failed)?;
    // Caught before the line is printed: a script may send the signal as soon as it reads it.
    let stop = stop_signal().map_err(CliError::failed)?;
    let mut stdout = std::io::stdout();
    let told = writeln!(stdout, "listening on http://{address}").and_then(|()| stdout.flush());
    told.map_err(|error| CliError::failed(format!("cannot print the address: {error}")))?;
    Ok((listener, stop))
}

/// Over when the program is asked to end, by Ctrl-C or by SIGTERM.
#[cfg(unix)]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _asked = interrupt.recv() => (),
            _asked = terminate.recv() => (),
        }
    })
}

/// Over when the program is asked to end by Ctrl-C.
#[cfg(not(unix))]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        // Without a handler the system ends the program by itself.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
