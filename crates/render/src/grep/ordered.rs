//! Searches files in parallel, and hands over what they give in the order of the files, part by part: memory is bounded
//! however much matches, and however slowly it is read.
//!
//! Workers take portions of files in order and send their output through channels of a few parts; a worker that gets ahead
//! waits. What may never end (stdin, a named pipe) is searched by the calling thread: nobody has to wait for its end.

use std::cell::RefCell;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use colgrep_engine::request::pattern::marked;
use grep_searcher::Searcher;

use super::LineGrep;
use crate::matches::{FileOutput, MatchPrinter, SearchedFile};

/// Most files that a worker takes at a time.
const PORTION_FILES_MAX: usize = 16;
/// Portions for each worker, if there are enough files.
const PORTIONS_A_WORKER: usize = 8;
/// Portions that are searched ahead of the one that is printed.
const PORTIONS_AHEAD: usize = 64;
/// Parts of a portion that wait to be printed.
const PARTS_AHEAD: usize = 2;
/// Bytes of output in a part, before the last line is added.
const PART_BYTES: usize = 64 << 10;

/// Takes the output of files, in their order.
pub(super) trait OrderedSink {
    /// Takes a part of a file's output; returns whether more is wanted.
    fn take(&mut self, file: &SearchedFile, part: FileOutput) -> Result<bool>;

    /// Called before a wait for more: shows what was taken.
    fn flush(&mut self) -> Result<()>;
}

/// Portions of files, each with the channel of its output.
type Portions<'f> = Receiver<(&'f [SearchedFile], Receiver<Vec<OutputPart>>)>;

/// A part of the output of a file, by its number in the portion.
type OutputPart = (usize, FileOutput);

/// The reader of a file, which calls a hook before each read.
struct HookedReader<'h, R> {
    inner: R,
    hook: &'h dyn Fn() -> io::Result<()>,
}

impl<R: Read> Read for HookedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (self.hook)()?;
        self.inner.read(buffer)
    }
}

/// Whether the end of a file may never come.
fn is_endless(file: &SearchedFile) -> bool {
    let is_regular = |path: &Path| path.metadata().is_ok_and(|m| m.is_file());
    match &file.full {
        None => true,
        // A walk yields regular files alone.
        Some(path) => file.is_named && !is_regular(path),
    }
}

/// The files in portions, in order; what may never end is alone.
fn portions(files: &[SearchedFile]) -> impl Iterator<Item = &[SearchedFile]> {
    let most = (files.len() / (PORTIONS_A_WORKER * rayon::current_num_threads())).clamp(1, PORTION_FILES_MAX);
    files.chunk_by(|a, b| !is_endless(a) && !is_endless(b)).flat_map(move |some| some.chunks(most))
}

impl LineGrep<'_> {
    /// Searches all files; `sink` gets what they give, in order, until it wants no more.
    pub(super) fn search_in_order(&self, files: &[SearchedFile], sink: &mut dyn OrderedSink) -> Result<()> {
        // A thread of the pool must not wait for the others; for a single file there is nothing to do in parallel.
        let is_alone = files.len() == 1 || rayon::current_num_threads() == 1 || rayon::current_thread_index().is_some();
        if is_alone {
            let mut searcher = self.searcher();
            for file in files {
                if !self.search_here(&mut searcher, file, sink)? {
                    break;
                }
            }
            return Ok(());
        }
        let stopped = AtomicBool::new(false);
        let waiting = Mutex::new(portions(files));
        rayon::in_place_scope(|scope| {
            let (send, taken) = sync_channel(PORTIONS_AHEAD);
            for _ in 0..rayon::current_num_threads() {
                let (send, waiting, stopped) = (send.clone(), &waiting, &stopped);
                scope.spawn(move |_| self.work(waiting, &send, stopped));
            }
            drop(send);
            let printed = self.print_in_order(taken, sink);
            stopped.store(true, Ordering::Relaxed);
            printed
        })
    }

    /// Hands over the output of portions, in order.
    fn print_in_order(&self, portions: Portions<'_>, sink: &mut dyn OrderedSink) -> Result<()> {
        let mut searcher = self.searcher();
        while let Some((files, parts)) = next(&portions, sink)? {
            if let [file] = files
                && is_endless(file)
            {
                if !self.search_here(&mut searcher, file, sink)? {
                    return Ok(());
                }
                continue;
            }
            while let Some(some) = next(&parts, sink)? {
                for (place, part) in some {
                    if !sink.take(&files[place], part)? {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Searches portions until there are no more.
    fn work<'f>(
        &self,
        waiting: &Mutex<impl Iterator<Item = &'f [SearchedFile]>>,
        send: &SyncSender<(&'f [SearchedFile], Receiver<Vec<OutputPart>>)>,
        stopped: &AtomicBool,
    ) {
        // A searcher's buffers are filled with zeros when it is made: one serves many files.
        let mut searcher = self.searcher();
        let hook = || match stopped.load(Ordering::Relaxed) {
            true => Err(io::Error::other("no more is wanted")),
            false => Ok(()),
        };
        loop {
            let (files, parts) = {
                let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(files) = waiting.next() else { return };
                let (parts, received) = sync_channel(PARTS_AHEAD);
                // Sent before another worker takes the next portion, which keeps them in order.
                if send.send((files, received)).is_err() {
                    return;
                }
                (files, parts)
            };
            if files.iter().any(is_endless) {
                continue;
            }
            let (mut ready, mut bytes) = (Vec::new(), 0);
            for (place, file) in files.iter().enumerate() {
                let last = self.search_file(&mut searcher, (file, &hook), PART_BYTES, &mut |part| {
                    ready.push((place, part));
                    bytes = 0;
                    parts.send(std::mem::take(&mut ready)).is_ok()
                });
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                if last.tells_something() {
                    bytes += last.bytes();
                    ready.push((place, last));
                }
                if bytes > PART_BYTES {
                    bytes = 0;
                    if parts.send(std::mem::take(&mut ready)).is_err() {
                        return;
                    }
                }
            }
            if !ready.is_empty() && parts.send(ready).is_err() {
                return;
            }
        }
    }

    /// Searches a file on this thread. Each match is shown before the next wait for input. Returns whether more is
    /// wanted.
    fn search_here(&self, searcher: &mut Searcher, file: &SearchedFile, sink: &mut dyn OrderedSink) -> Result<bool> {
        let sink = RefCell::new(sink);
        let said = RefCell::new(Ok(true));
        let hook = || match sink.borrow_mut().flush() {
            Ok(()) => Ok(()),
            Err(error) => {
                *said.borrow_mut() = Err(error);
                Err(io::Error::other("the output refuses"))
            }
        };
        let part_bytes = if is_endless(file) { 0 } else { PART_BYTES };
        let last = self.search_file(searcher, (file, &hook), part_bytes, &mut |part| {
            let answer = sink.borrow_mut().take(file, part);
            let goes_on = matches!(answer, Ok(true));
            *said.borrow_mut() = answer;
            goes_on
        });
        if !said.replace(Ok(true))? {
            return Ok(false);
        }
        if last.tells_something() { sink.into_inner().take(file, last) } else { Ok(true) }
    }

    /// Searches one file; `hook` is called before each read, and `emit` takes each part of more than `part_bytes`, and
    /// says whether to go on. Returns the last part.
    fn search_file(
        &self,
        searcher: &mut Searcher,
        (file, hook): (&SearchedFile, &dyn Fn() -> io::Result<()>),
        part_bytes: usize,
        emit: &mut dyn FnMut(FileOutput) -> bool,
    ) -> FileOutput {
        let hooked = RefCell::new(true);
        let hook = || hook().inspect_err(|_| *hooked.borrow_mut() = false);
        // Opening a named pipe waits for a writer.
        let open = |path: &Path| {
            if is_endless(file) {
                hook()?;
            }
            file.open(path)
        };
        if let (Some(structure), Some(path)) = (&self.structure, &file.full) {
            let read = |inner| {
                structure.search(&file.shown.to_string_lossy(), None, self.lines(), HookedReader { inner, hook: &hook })
            };
            let found = match open(path).and_then(read) {
                Ok(found) => found,
                Err(error) => return self.unread(file, &error, hooked.into_inner(), FileOutput::default()),
            };
            let Some(found) = found else { return FileOutput::default() };
            let printer = MatchPrinter::new(self.options, self.of_lines, &found, file);
            let mut printer = printer.in_parts(part_bytes, emit);
            // Memory is read without errors.
            let _ = searcher.search_slice(&found, found.text.as_bytes(), &mut printer);
            return printer.into_lines();
        }
        let printer = MatchPrinter::new(self.options, self.of_lines, &*self.matcher, file);
        let mut printer = printer.in_parts(part_bytes, emit);
        let searched = match &file.full {
            None => {
                let input = HookedReader { inner: io::stdin().lock(), hook: &hook };
                searcher.search_reader(&*self.matcher, marked(input), &mut printer)
            }
            Some(path) => open(path).and_then(|inner| {
                let input = HookedReader { inner, hook: &hook };
                searcher.search_reader(&*self.matcher, marked(input), &mut printer)
            }),
        };
        let last = printer.into_lines();
        match searched {
            Ok(()) => last,
            Err(error) => self.unread(file, &error, hooked.into_inner(), last),
        }
    }

    /// The last part of a file that went away or can't be read, which is reported where it `counts`; the others are still
    /// searched.
    fn unread(&self, file: &SearchedFile, error: &io::Error, counts: bool, mut last: FileOutput) -> FileOutput {
        if counts {
            self.tell(&format!("{}: {error}", file.shown.display()));
        }
        last.failed |= counts;
        last
    }
}

/// The next message; none at the end. Before a wait, `sink` shows what it has.
fn next<T>(messages: &Receiver<T>, sink: &mut dyn OrderedSink) -> Result<Option<T>> {
    match messages.try_recv() {
        Ok(message) => Ok(Some(message)),
        Err(TryRecvError::Disconnected) => Ok(None),
        Err(TryRecvError::Empty) => {
            sink.flush()?;
            Ok(messages.recv().ok())
        }
    }
}
