//! `exoscope view`.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use tokio::net::TcpListener;

use super::{CliError, Exit};
use crate::capture::interrupt::Interrupt;
use crate::plan::Address;
use crate::report::{document, reading};
use crate::viewer::app;
use crate::viewer::check::check;
use crate::viewer::server::{Preloaded, Site, router};

/// Serves the viewer to this machine and opens it with the files given. Nothing leaves the browser; Ctrl-C ends it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  exoscope view before.json after.json
  exoscope view results.json --no-open --port 8080")]
pub(super) struct Arguments {
    /// Result files to open at once; more can be dropped into the page
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Port to serve on; 0 takes any free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Print the address and open no browser
    #[arg(long)]
    no_open: bool,
    /// Serve, ask for everything as a browser does, print the address, and end: for scripts
    #[arg(long)]
    check: bool,
    /// Folder of the built viewer
    #[arg(long, value_name = "DIR", env = "EXOSCOPE_VIEWER")]
    dist: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let program = std::env::current_exe().ok();
        let app = app::find(self.dist.as_deref(), program.as_deref()).map_err(CliError::failed)?;
        let preloaded = self.files.iter().map(|file| preload(file)).collect::<Result<Vec<_>, _>>()?;
        let runtime = tokio::runtime::Runtime::new()
            .map_err(|error| CliError::failed(format!("the system gives no threads: {error}")))?;
        runtime.block_on(self.serve(Site { app, preloaded }))
    }

    async fn serve(self, site: Site) -> Result<Exit, CliError> {
        let taken = |error: std::io::Error| {
            CliError::failed(format!("port {} cannot be served on: {error}; --port 0 takes a free one", self.port))
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await.map_err(taken)?;
        let port = listener.local_addr().map_err(taken)?.port();
        let here = Address { host: Ipv4Addr::LOCALHOST.to_string(), port };
        let address = format!("http://{here}/");
        let server = async { axum::serve(listener, router(site.clone())).await };
        let interrupt = Interrupt::default();
        interrupt
            .listen()
            .map_err(|error| CliError::failed(format!("the system does not let Ctrl-C be heard: {error}")))?;

        if self.check {
            return tokio::select! {
                served = server => served.map(|()| Exit::Done).map_err(taken),
                checked = check(&here, &site) => {
                    checked.map_err(CliError::failed)?;
                    document::write(None, &format!("served on {address}\n")).map_err(CliError::failed)?;
                    Ok(Exit::Done)
                }
            };
        }
        document::write(None, &format!("serving on {address}\n")).map_err(CliError::failed)?;
        // What one opens two files for is the comparison; the library is a click away.
        let shown = match self.files.len() {
            1 => format!("{address}#run=1"),
            2 => format!("{address}#compare=1,2"),
            _ => address,
        };
        if !self.no_open
            && let Err(error) = open::that_detached(&shown)
        {
            // A machine without a browser is no reason to stop serving.
            document::write(None, &format!("no browser could be opened ({error}); open the address yourself\n"))
                .map_err(CliError::failed)?;
        }
        tokio::select! {
            served = server => served.map(|()| Exit::Done).map_err(taken),
            () = interrupt.raised() => Ok(Exit::Done),
        }
    }
}

fn preload(file: &Path) -> Result<Preloaded, CliError> {
    let shown = file.display().to_string();
    let bytes = std::fs::read(file)
        .map_err(|error| CliError::failed(format!("{shown}: cannot be read: {}", reading::why(&shown, &error))))?;
    let name = file.file_name().map_or(shown, |name| name.to_string_lossy().into_owned());
    Ok(Preloaded { name, bytes: bytes.into() })
}
