//! Frames: the length of a message in four bytes, little-endian, and the message in postcard. No memory is allocated
//! for bytes that have not arrived.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum size of a hello in bytes.
pub const HELLO_BYTES_MAX: usize = 4 << 10;
/// Maximum size of a question in bytes.
pub const QUESTION_BYTES_MAX: usize = 4 << 20;
/// Maximum size of an answer in bytes.
pub const ANSWER_BYTES_MAX: usize = 16 << 20;
/// Size of the length in bytes.
pub const HEAD_BYTES: usize = 4;
/// Size of a read in bytes.
const PIECE_BYTES: usize = 64 << 10;
/// The shortest timeout: the system rejects a timeout of zero.
const WAIT_MIN: Duration = Duration::from_millis(1);

/// Encodes a message as a frame.
///
/// # Errors
/// When it is longer than `bytes_max`.
pub fn framed(message: &impl Serialize, bytes_max: usize) -> io::Result<Vec<u8>> {
    let bytes = postcard::to_extend(message, vec![0; HEAD_BYTES]).map_err(invalid)?;
    with_head(bytes, bytes_max)
}

/// Writes the length into the reserved first bytes of a frame.
///
/// # Errors
/// When the message is longer than `bytes_max`.
pub fn with_head(mut bytes: Vec<u8>, bytes_max: usize) -> io::Result<Vec<u8>> {
    let length = bytes.len() - HEAD_BYTES;
    match u32::try_from(length) {
        Ok(head) if length <= bytes_max => bytes[..HEAD_BYTES].copy_from_slice(&head.to_le_bytes()),
        _ => return Err(invalid(format!("a message of {length} bytes; {bytes_max} may be sent"))),
    }
    Ok(bytes)
}

/// The first bytes of a frame with an answer.
pub fn answer_head() -> Vec<u8> {
    // Room for the length, then postcard's `Ok`.
    let mut head = vec![0; HEAD_BYTES];
    head.push(0);
    head
}

/// Decodes the message in a frame.
///
/// # Errors
/// When the bytes are not exactly one such message.
pub fn message<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    match postcard::take_from_bytes(bytes).map_err(invalid)? {
        (message, []) => Ok(message),
        (_, rest) => Err(invalid(format!("{} bytes behind a message", rest.len()))),
    }
}

fn invalid(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// One end of a connection.
#[derive(Debug)]
pub struct Frames {
    stream: TcpStream,
    /// Received bytes of the next frames.
    come: Vec<u8>,
}

impl Frames {
    /// Wraps a stream. A write fails after `patience`.
    ///
    /// # Errors
    /// When the system fails to configure the stream.
    pub fn new(stream: TcpStream, patience: Duration) -> io::Result<Frames> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(patience.max(WAIT_MIN)))?;
        Ok(Frames { stream, come: Vec::new() })
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// True if the other end is connected. Unread bytes hide a disconnect.
    pub fn is_open(&self) -> bool {
        if self.stream.set_nonblocking(true).is_err() {
            return false;
        }
        let peeked = self.stream.peek(&mut [0]);
        let is_open = match peeked {
            Ok(bytes) => bytes > 0,
            Err(error) => matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted),
        };
        self.stream.set_nonblocking(false).is_ok() && is_open
    }

    /// The received bytes of the next frame.
    pub fn come(&self) -> &[u8] {
        &self.come
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// When the other end is disconnected or does not read.
    pub fn write(&mut self, frame: &[u8]) -> io::Result<()> {
        self.stream.write_all(frame)
    }

    /// Reads the next frame; `None` if it is not complete by then. The received part is kept for the next call.
    ///
    /// # Errors
    /// When the other end is disconnected, or the frame is longer than `bytes_max`.
    pub fn read(&mut self, bytes_max: usize, until: Instant) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(frame) = self.taken(bytes_max)? {
                return Ok(Some(frame));
            }
            if !self.more(until)? {
                return Ok(None);
            }
        }
    }

    /// Reads up to an empty line or `bytes_max`: the head of an HTTP request.
    ///
    /// # Errors
    /// When the other end is disconnected.
    pub fn read_head(&mut self, bytes_max: usize, until: Instant) -> io::Result<()> {
        while !self.come.windows(4).any(|part| part == b"\r\n\r\n")
            && self.come.len() < bytes_max
            && self.more(until)?
        {}
        Ok(())
    }

    /// Waits for bytes. Returns whether there is time left for more.
    fn more(&mut self, until: Instant) -> io::Result<bool> {
        let left = until.saturating_duration_since(Instant::now());
        self.stream.set_read_timeout(Some(left.max(WAIT_MIN)))?;
        let length = self.come.len();
        self.come.resize(length + PIECE_BYTES, 0);
        let read = self.stream.read(&mut self.come[length..]);
        self.come.truncate(length + read.as_ref().map_or(0, |read| *read));
        match read {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Ok(Instant::now() < until)
            }
            Err(error) => Err(error),
        }
    }

    /// Takes the first frame of the received bytes, if it is complete.
    fn taken(&mut self, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
        let Some(head) = self.come.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
        let length = u32::from_le_bytes(*head) as usize;
        if length > bytes_max {
            return Err(invalid(format!("a frame of {length} bytes; {bytes_max} are taken")));
        }
        if self.come.len() < HEAD_BYTES + length {
            return Ok(None);
        }
        let rest = self.come.split_off(HEAD_BYTES + length);
        let mut frame = std::mem::replace(&mut self.come, rest);
        frame.drain(..HEAD_BYTES);
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn pair() -> (TcpStream, Frames) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let far = TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
        let near = listener.accept().expect("its other end").0;
        (far, Frames::new(near, Duration::from_secs(1)).expect("frames"))
    }

    /// For what never comes.
    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(20)
    }

    /// For what comes, on a busy machine too.
    fn late() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn frames_come_whole_or_not_at_all() {
        let (mut far, mut near) = pair();
        let frame = framed(&("question", 7u32), 100).expect("a frame");
        far.write_all(&frame[..3]).expect("written");
        assert!(near.read(100, soon()).expect("no error").is_none(), "half a length");
        far.write_all(&frame[3..7]).expect("written");
        assert!(near.read(100, soon()).expect("no error").is_none(), "half a message");
        far.write_all(&[&frame[7..], &frame[..]].concat()).expect("written");
        for _ in 0..2 {
            let bytes = near.read(100, late()).expect("no error").expect("a frame");
            assert_eq!(message::<(String, u32)>(&bytes).expect("a message"), ("question".to_string(), 7));
        }
        assert!(near.is_open());
        drop(far);
        assert_eq!(near.read(100, late()).expect_err("gone").kind(), io::ErrorKind::UnexpectedEof);
        assert!(!near.is_open());
    }

    #[test]
    fn what_is_too_long_or_no_message_is_refused() {
        let (mut far, mut near) = pair();
        far.write_all(&u32::MAX.to_le_bytes()).expect("written");
        assert_eq!(near.read(100, late()).expect_err("too long").kind(), io::ErrorKind::InvalidData);
        assert!(framed(&vec![0u8; 200], 100).is_err());
        assert!(message::<(String, u32)>(&[255, 255, 255, 255, 255]).is_err(), "a length without bytes");
        assert!(message::<u8>(&[1, 2]).is_err(), "something behind it");
    }
}
