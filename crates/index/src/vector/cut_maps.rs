//! Reading a mapped file that somebody cuts meanwhile: the system has no pages for its end any more and sends SIGBUS,
//! which ends the process. A handler puts a page of zeros in the place of each missing one and marks the map, so that the
//! read goes on and is then reported as damage.

#![expect(unsafe_code, reason = "a signal handler, which replaces pages of our own maps")]

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

/// Maximum number of maps that are guarded at once; those beyond are not.
const MAPS_MAX: usize = 1 << 10;

static MAPS: [GuardedRange; MAPS_MAX] =
    [const { GuardedRange { start: AtomicUsize::new(0), end: AtomicUsize::new(0), is_cut: AtomicBool::new(false) } };
        MAPS_MAX];
/// What handled the signal before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The addresses of a map.
struct GuardedRange {
    /// The first one; 0 if the entry is free.
    start: AtomicUsize,
    /// The end, set after the start and taken back before it.
    end: AtomicUsize,
    is_cut: AtomicBool,
}

/// Guards a map until it is dropped, which must be before the map is.
#[derive(Debug)]
pub(super) struct MapGuard(Option<usize>);

impl MapGuard {
    /// Guards the bytes of a map of a file.
    pub(super) fn of(map: &[u8]) -> MapGuard {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(install);
        let start = map.as_ptr() as usize;
        if map.is_empty() || BEFORE.get().is_none() {
            return MapGuard(None);
        }
        let take =
            |range: &GuardedRange| range.start.compare_exchange(0, start, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        let at = MAPS.iter().position(take);
        if let Some(range) = at.map(|at| &MAPS[at]) {
            range.is_cut.store(false, Ordering::Relaxed);
            range.end.store(start + map.len(), Ordering::Release);
        }
        MapGuard(at)
    }

    /// Whether a page of the map was missing.
    pub(super) fn is_cut(&self) -> bool {
        self.0.is_some_and(|at| MAPS[at].is_cut.load(Ordering::Acquire))
    }
}

impl Drop for MapGuard {
    fn drop(&mut self) {
        if let Some(range) = self.0.map(|at| &MAPS[at]) {
            range.end.store(0, Ordering::Release);
            range.start.store(0, Ordering::Release);
        }
    }
}

fn install() {
    // SAFETY: the structures are valid, and the handler does only what a handler may: loads and stores of atomics, and
    // system calls.
    unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE);
        PAGE_BYTES.store(usize::try_from(page).unwrap_or_default(), Ordering::Release);
        let mut before: libc::sigaction = std::mem::zeroed();
        if page <= 0 || libc::sigaction(libc::SIGBUS, null_mut(), &mut before) != 0 || BEFORE.set(before).is_err() {
            return;
        }
        let mut own: libc::sigaction = std::mem::zeroed();
        own.sa_sigaction = replace_page as *const () as usize;
        // On the stack that threads have for signals.
        own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut own.sa_mask);
        libc::sigaction(libc::SIGBUS, &own, null_mut());
    }
}

/// Handles SIGBUS. Whatever is not of a guarded map goes to the handler before this one: the read is done again, and
/// fails again.
extern "C" fn replace_page(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the system gives a valid description with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    for range in &MAPS {
        let end = range.end.load(Ordering::Acquire);
        let start = range.start.load(Ordering::Acquire);
        if start == 0 || !(start..end).contains(&address) {
            continue;
        }
        let page_bytes = PAGE_BYTES.load(Ordering::Acquire);
        let page = address - address % page_bytes;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the page is one of a map of ours, which is only read and not unmapped while it is guarded.
        let mapped = unsafe { libc::mmap(page as *mut c_void, page_bytes, libc::PROT_READ, flags, -1, 0) };
        if mapped != libc::MAP_FAILED {
            range.is_cut.store(true, Ordering::Release);
            return;
        }
    }
    if let Some(before) = BEFORE.get() {
        // SAFETY: the structure is what the system gave.
        unsafe { libc::sigaction(libc::SIGBUS, before, null_mut()) };
    }
}
