//! Sockets and threads: one for control, and one per client, which ends when the client exits.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::datagram::{CONTROL_BYTES, DATA_BYTES, REFUSED, control, set_word};
use super::exchange::{ClientId, Controlled, Exchange};

/// How often a silent client is checked.
const LOOK_AFTER: Duration = Duration::from_millis(500);
/// How long a datagram waits for a client that does not read, before it is dropped.
const WRITE_TIMEOUT: Duration = Duration::from_millis(200);

/// The state shared by all threads.
pub(super) struct Server {
    name: String,
    exchange: Mutex<Exchange>,
    sockets: Mutex<BTreeMap<ClientId, Arc<UnixDatagram>>>,
    control: UnixDatagram,
    threads: Mutex<Vec<JoinHandle<()>>>,
    is_stopping: AtomicBool,
}

/// Returns the address of a socket as the library builds it: abstract, with the final NUL of a C
/// string.
fn address(name: &str, role: &str, number: Option<u32>) -> io::Result<SocketAddr> {
    let number = number.map_or(String::new(), |n| n.to_string());
    SocketAddr::from_abstract_name(format!("{name}:{role}{number}\0"))
}

/// Extra bytes of receive buffers, so that datagrams that are too long are detected.
const ROOM_FOR_MORE: usize = 1;

impl Server {
    /// Binds the control socket to the name, and starts listening.
    pub(super) fn start(name: &str, exchange: Exchange) -> io::Result<Arc<Server>> {
        let control = UnixDatagram::bind_addr(&address(name, "ctl", None)?)?;
        control.set_write_timeout(Some(WRITE_TIMEOUT))?;
        let server = Arc::new(Server {
            name: name.to_owned(),
            exchange: Mutex::new(exchange),
            sockets: Mutex::default(),
            control,
            threads: Mutex::default(),
            is_stopping: AtomicBool::new(false),
        });
        server.run("control", {
            let server = Arc::clone(&server);
            move || server.serve_control()
        })?;
        Ok(server)
    }

    /// Ends all threads and closes all sockets.
    pub(super) fn stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        // The shutdown wakes waiting threads. An error means that the socket is already closed.
        let _ = self.control.shutdown(Shutdown::Both);
        loop {
            for socket in lock(&self.sockets).values() {
                let _ = socket.shutdown(Shutdown::Both);
            }
            let Some(thread) = lock(&self.threads).pop() else {
                break;
            };
            thread.join().expect("no datagram makes a server panic");
        }
    }

    /// Locks the nodes and clients.
    pub(super) fn exchange(&self) -> MutexGuard<'_, Exchange> {
        lock(&self.exchange)
    }

    fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }

    fn run(&self, what: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let thread = thread::Builder::new().name(format!("{}:{what}", self.name));
        let mut threads = lock(&self.threads);
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread.spawn(work)?);
        Ok(())
    }

    fn serve_control(self: Arc<Server>) {
        let mut buffer = [0; CONTROL_BYTES + ROOM_FOR_MORE];
        while !self.is_stopping() {
            let Ok((length, from)) = self.control.recv_from(&mut buffer) else {
                continue;
            };
            if self.is_stopping() {
                break;
            }
            let datagram = &mut buffer[..length];
            let controlled = self.exchange().control(datagram);
            match controlled {
                Controlled::Ignore => continue,
                Controlled::Answer => {}
                Controlled::Attached(id, process) => {
                    if Arc::clone(&self).attach(id, process).is_err() {
                        self.exchange().detach(id);
                        set_word(datagram, control::TYPE, REFUSED);
                    }
                }
                Controlled::Detached(id) => self.close(id),
            }
            // If the client is gone, its own thread notices.
            let _ = self.control.send_to_addr(datagram, &from);
        }
    }

    /// Creates the socket and the thread of a new client.
    fn attach(self: Arc<Server>, id: ClientId, process: u32) -> io::Result<()> {
        let client = address(&self.name, "in", Some(process))?;
        let socket = UnixDatagram::bind_addr(&address(&self.name, "out", Some(id.into()))?)?;
        socket.connect_addr(&client)?;
        socket.set_read_timeout(Some(LOOK_AFTER))?;
        socket.set_write_timeout(Some(WRITE_TIMEOUT))?;
        let socket = Arc::new(socket);
        self.forget_twin(id);
        lock(&self.sockets).insert(id, Arc::clone(&socket));
        let server = Arc::clone(&self);
        let started = self.run(&format!("client {id}"), move || {
            server.serve_client(id, &socket, &client);
        });
        if started.is_err() {
            lock(&self.sockets).remove(&id);
        }
        started
    }

    /// Removes an earlier client of the same process, which has reopened its sockets.
    fn forget_twin(&self, id: ClientId) {
        let mut exchange = self.exchange();
        if let Some(twin) = exchange.twin_of(id) {
            exchange.detach(twin);
            drop(exchange);
            self.close(twin);
        }
    }

    /// Returns whether a client was removed, or the server is stopping.
    fn is_over(&self, id: ClientId) -> bool {
        self.is_stopping() || !lock(&self.sockets).contains_key(&id)
    }

    /// Ends the thread of a removed client.
    fn close(&self, id: ClientId) {
        if let Some(socket) = lock(&self.sockets).remove(&id) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    fn serve_client(&self, id: ClientId, socket: &UnixDatagram, client: &SocketAddr) {
        let mut buffer = [0; DATA_BYTES + ROOM_FOR_MORE];
        loop {
            let length = match socket.recv(&mut buffer) {
                // An empty datagram, or the shutdown that ends this thread.
                Ok(0) if self.is_over(id) => return,
                Ok(length) => length,
                Err(error) if is_pause(&error) => match (self.is_over(id), is_gone(client)) {
                    (true, _) => return,
                    (false, true) => return self.bury(id),
                    (false, false) => continue,
                },
                Err(_) => return self.bury(id),
            };
            let datagram = &mut buffer[..length];
            let to = self.exchange().data(id, datagram);
            let sent = match to {
                None => Ok(0),
                Some(to) if to == id => socket.send(datagram),
                Some(to) => self.send(to, datagram),
            };
            let is_refused = |error: io::Error| error.kind() == ErrorKind::ConnectionRefused;
            if to == Some(id) && sent.is_err_and(is_refused) {
                return self.bury(id);
            }
        }
    }

    /// Sends to the client of another thread. That thread notices if the client is gone.
    fn send(&self, to: ClientId, datagram: &[u8]) -> io::Result<usize> {
        let socket = lock(&self.sockets).get(&to).cloned();
        socket.map_or(Ok(0), |socket| socket.send(datagram))
    }

    /// Removes a client that exited without disconnecting.
    fn bury(&self, id: ClientId) {
        if lock(&self.sockets).remove(&id).is_some() {
            let mut exchange = self.exchange();
            exchange.counters.died += 1;
            exchange.detach(id);
        }
    }
}

/// Returns whether waiting ended without a datagram and may continue.
fn is_pause(error: &io::Error) -> bool {
    let pauses = [
        ErrorKind::WouldBlock,
        ErrorKind::TimedOut,
        ErrorKind::Interrupted,
    ];
    pauses.contains(&error.kind())
}

/// Returns whether no process has a socket of this name. An existing socket rejects the probe with
/// another error, since it is connected to its own server.
fn is_gone(client: &SocketAddr) -> bool {
    let probe = UnixDatagram::unbound().and_then(|socket| socket.connect_addr(client));
    probe.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panics with a lock")
}
