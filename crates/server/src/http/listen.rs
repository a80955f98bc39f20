//! Sockets: the only place of the program that listens. It opens no connection of its own.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::response::Response;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio_io_timeout::TimeoutStream;

use super::gate::{Guest, Seat};
use super::guard::PeerAddress;
use super::{App, routes};

/// Bytes of a head that are read; hyper takes no less than 8 KiB, and drops longer heads silently. Heads longer than
/// [`HEAD_BYTES_MAX`](super::guard::HEAD_BYTES_MAX) get an error response.
const READ_BYTES_MAX: usize = 4 * super::guard::HEAD_BYTES_MAX;
/// Time for the head of a request, also that in which a connection may be idle.
const HEAD_PATIENCE: Duration = Duration::from_secs(15);
/// Time in which a client has to take some of an answer.
const WRITE_PATIENCE: Duration = Duration::from_secs(20);
/// Time for a connection beyond the limit, which may only ask about health.
const SPARE_PATIENCE: Duration = Duration::from_secs(2);
/// Time for requests under way when the server shuts down.
const LAST_PATIENCE: Duration = Duration::from_secs(10);
/// Size of the system's send buffer, in bytes, for a client that does not read.
const SEND_BYTES: u32 = 256 << 10;
/// Connections in the system's queue.
const WAITING_CONNECTIONS: u32 = 256;
/// Pause where the system gives no further connection.
const PAUSE: Duration = Duration::from_millis(100);

pub struct BoundSocket {
    socket: TcpListener,
    /// Its address, with the port that the system gave for port 0.
    pub address: SocketAddr,
}

impl BoundSocket {
    /// Binds an address.
    pub fn bind(address: SocketAddr) -> Result<BoundSocket> {
        let taken = || {
            format!("could not listen on {address}; --listen ADDRESS:PORT names another one, port 0 takes a free one")
        };
        let socket = bound(address).with_context(taken)?;
        let address = socket.local_addr()?;
        Ok(BoundSocket { socket, address })
    }

    /// Answers until shutdown, then finishes the requests under way.
    pub async fn serve(self, app: &Arc<App>) {
        let (router, spare) = (routes::router(app), routes::beside(app));
        let (stop, stopped) = watch::channel(false);
        let mut told = pin!(told_to_end());
        loop {
            // While the limit is reached, further connections wait in the system's queue.
            let next = async {
                let accepted = match self.socket.accept().await {
                    Ok(accepted) => accepted,
                    Err(error) => return Some(Err(error)),
                };
                let seat = app.gate.connect(accepted.1.ip()).await?;
                Some(Ok((accepted.0, seat)))
            };
            tokio::select! {
                () = &mut told => break,
                next = next => match next {
                    Some(Ok((stream, seat))) if seat.is_whole => {
                        let patience = app.patience;
                        tokio::spawn(connection(stream, router.clone(), stopped.clone(), seat, patience));
                    }
                    Some(Ok((stream, seat))) => {
                        let asked = connection(stream, spare.clone(), stopped.clone(), seat, SPARE_PATIENCE);
                        tokio::spawn(tokio::time::timeout(SPARE_PATIENCE, asked));
                    }
                    // Too many open files, or a client that went away again.
                    Some(Err(_)) => tokio::time::sleep(PAUSE).await,
                    None => break,
                },
            }
        }
        drop(self.socket);
        let _ = stop.send(true);
        tokio::select! {
            _ = tokio::time::timeout(LAST_PATIENCE, app.gate.emptied()) => {}
            // Who asks twice does not want to wait.
            () = told_to_end() => {}
        }
    }
}

fn bound(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A server that was just ended leaves its port to the next.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BYTES)?;
    socket.bind(address)?;
    socket.listen(WAITING_CONNECTIONS)
}

/// Serves one connection; closes it after the current request once the server is `stopped`.
async fn connection(
    stream: TcpStream,
    router: Router,
    mut stopped: watch::Receiver<bool>,
    seat: Seat,
    patience: Duration,
) {
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_PATIENCE.min(patience)));
    let stream = TokioIo::new(Box::pin(stream));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE.min(patience))
        .max_buf_size(READ_BYTES_MAX)
        .keep_alive(seat.is_whole)
        .serve_connection(
            stream,
            GuestService { router: TowerToHyperService::new(router), guest: Arc::clone(&seat.guest) },
        );
    let mut connection = pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        may_go_on = seat.guest.is_to_leave() => if !may_go_on { return },
        _ = stopped.wait_for(|is_over| *is_over) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// The routes for one connection: each request brings its guest and the guest's address.
struct GuestService {
    router: TowerToHyperService<Router>,
    guest: Arc<Guest>,
}

impl Service<Request<Incoming>> for GuestService {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(PeerAddress(self.guest.address()));
        request.extensions_mut().insert(Arc::clone(&self.guest));
        let (asked, answer) = (self.guest.asks(), self.router.call(request));
        Box::pin(async move { Ok(answer.await?.map(|body| asked.until_sent(body))) })
    }
}

/// Waits for SIGINT or SIGTERM.
pub async fn told_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
