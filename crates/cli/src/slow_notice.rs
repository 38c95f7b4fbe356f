//! Messages on stderr about operations that take long.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time before the first message.
const FIRST: Duration = Duration::from_secs(2);
/// Time between later messages, on a terminal and in a log.
const ON_A_TERMINAL: Duration = Duration::from_millis(500);
const IN_A_LOG: Duration = Duration::from_secs(10);

/// Reports an operation that may take long, until it is dropped.
pub(super) struct SlowNotice {
    words: Arc<Mutex<String>>,
    end: Option<(Sender<()>, JoinHandle<()>)>,
}

impl SlowNotice {
    /// Starts to report an operation, described by `words`; prints nothing if `quiet`.
    pub(super) fn new(words: String, quiet: bool) -> SlowNotice {
        let words = Arc::new(Mutex::new(words));
        let shared = Arc::clone(&words);
        let (sender, receiver) = channel();
        let watch = std::thread::Builder::new();
        let end = (!quiet).then_some(watch).and_then(|watch| {
            let thread = watch.spawn(move || {
                let (began, is_terminal) = (Instant::now(), std::io::stderr().is_terminal());
                let (mut wait, mut has_spoken) = (FIRST, false);
                while receiver.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    let words = shared.lock().map(|words| words.clone()).unwrap_or_default();
                    say(&words, began.elapsed(), is_terminal);
                    has_spoken = true;
                    wait = if is_terminal { ON_A_TERMINAL } else { IN_A_LOG };
                }
                if is_terminal && has_spoken {
                    let _ = write!(std::io::stderr(), "\r\u{1b}[K");
                }
            });
            // If the system cannot start a thread, nothing is reported.
            Some((sender, thread.ok()?))
        });
        SlowNotice { words, end }
    }

    /// Changes the description in later messages.
    pub(super) fn update(&self, words: String) {
        if let Ok(mut shared) = self.words.lock() {
            *shared = words;
        }
    }
}

fn say(words: &str, since: Duration, is_terminal: bool) {
    let seconds = since.as_secs();
    let mut stderr = std::io::stderr();
    let _ = match is_terminal {
        true => write!(stderr, "\r\u{1b}[K  {words}, {seconds} s"),
        false => writeln!(stderr, "  {words}, {seconds} s"),
    };
    let _ = stderr.flush();
}

impl Drop for SlowNotice {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.end.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}
