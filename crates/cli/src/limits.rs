//! Handles exhausted memory, stack and file space: each ends in a message and exit status 2 instead of a signal.
#![expect(unsafe_code, reason = "the allocator, and what glibc and the kernel do by themselves")]

use colgrep_render::remark;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

use crate::FAILED;

/// Stack of the thread that does the work: what most systems give a main thread. It is touched at once, so that it
/// can't be refused later.
const STACK_BYTES: usize = 8 << 20;
/// Below this much address space, threads and their heaps are limited.
#[cfg(target_os = "linux")]
const TIGHT_BYTES: u64 = 2 << 30;

/// Size by which a heap grows. A search touches some megabytes; page by page, each page would cost a fault.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAP_BYTES: usize = 16 << 20;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_PAGE_BYTES: usize = 2 << 20;
/// How many threads' heaps are of large pages, of which each takes one at least.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const WIDE_HEAPS_MAX: usize = 8;

/// The system's allocator, but a request that it refuses ends the program with a sentence.
struct ReportingAllocator;

#[global_allocator]
static ALLOCATOR: ReportingAllocator = ReportingAllocator;

/// Reports that memory is exhausted, without allocating, and exits.
fn no_memory(pointer: *mut u8, bytes: usize) -> *mut u8 {
    // Larger requests are mistakes of the caller, which may handle the failure.
    if pointer.is_null() && bytes <= isize::MAX as usize / 2 {
        let said = b"colgrep: the system gives no more memory; close something, raise the limit (ulimit -v), or leave large files out with --max-filesize\n";
        #[cfg(unix)]
        // SAFETY: writes bytes that live as long as the program, and ends it.
        unsafe {
            libc::write(2, said.as_ptr().cast(), said.len());
            libc::_exit(i32::from(FAILED));
        }
        #[cfg(not(unix))]
        let _ = said;
    }
    pointer
}

// SAFETY: every call is passed to the system's allocator, and its result is returned.
unsafe impl GlobalAlloc for ReportingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that are asked for.
        no_memory(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        no_memory(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        no_memory(unsafe { System.realloc(pointer, layout, bytes) }, bytes)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) };
    }
}

/// Whether stdout was closed when the program began.
static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before the standard library, which would open `/dev/null` for a closed stdout: output would be lost and the exit
/// status 0. Opens `/dev/full` instead, which refuses every write.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static REFUSE_CLOSED_STDOUT: extern "C" fn() = {
    extern "C" fn refuse() {
        // SAFETY: opens and closes files of its own, before there is a second thread.
        unsafe {
            if libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) != -1 {
                return;
            }
            let full = libc::open(c"/dev/full".as_ptr(), libc::O_WRONLY);
            if full >= 0 && full != libc::STDOUT_FILENO {
                libc::dup2(full, libc::STDOUT_FILENO);
                libc::close(full);
            }
            STDOUT_CLOSED.store(full >= 0, Ordering::Relaxed);
        }
    }
    refuse
};

/// Whether stdout was closed when the program began; each write to it fails with [`std::io::ErrorKind::StorageFull`].
pub fn is_stdout_closed() -> bool {
    STDOUT_CLOSED.load(Ordering::Relaxed)
}

/// Whether the address space is limited to so little that each thread counts.
pub fn is_tight() -> bool {
    #[cfg(target_os = "linux")]
    return rustix::process::getrlimit(rustix::process::Resource::As).current.is_some_and(|limit| limit < TIGHT_BYTES);
    #[cfg(not(target_os = "linux"))]
    false
}

/// Lets heaps grow by [`HEAP_BYTES`], and puts the main thread's heap on large pages where the system allows it by
/// `madvise`. This is what `glibc.malloc.hugetlb=1` in `GLIBC_TUNABLES` does, which glibc reads before a program
/// begins. A search takes 15 to 25 % less time (`docs/research/scale.md`).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn widen_heaps() {
    // SAFETY: sets numbers, takes room and gives it back, before there is a second thread. The advice changes no content.
    unsafe {
        let before = libc::sbrk(0);
        libc::mallopt(libc::M_TOP_PAD, HEAP_BYTES as i32);
        // Setting one of these numbers freezes all, so set them to what they would grow to.
        libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 64 << 20);
        // More than the heap has now, so it grows. Hidden from the compiler, which leaves out what nobody uses.
        let room = std::hint::black_box([libc::malloc(100 << 10), libc::malloc(100 << 10)]);
        let bytes = (libc::sbrk(0) as usize).saturating_sub(before as usize);
        if bytes >= HEAP_BYTES {
            libc::madvise(before, bytes, libc::MADV_HUGEPAGE);
        }
        room.into_iter().for_each(|one| libc::free(one));
    }
}

/// Has the heap of the calling thread be of large pages, where it is one of the first few: see [`widen_heaps`].
pub fn widen_heap_of_thread(number: usize) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if number < WIDE_HEAPS_MAX && !is_tight() {
        /// glibc begins the heap of a thread at a multiple of this (`HEAP_MAX_SIZE`).
        const BEGINS_AT: usize = 64 << 20;
        // SAFETY: takes room and gives it back. Neither advice changes any content, whatever lies there.
        unsafe {
            let room = libc::malloc(64);
            let heap = (room as usize & !(BEGINS_AT - 1)) as *mut libc::c_void;
            libc::madvise(heap, HEAP_BYTES, libc::MADV_HUGEPAGE);
            // The first pages are already in use, so the system would not merge them by itself (from Linux 6.1).
            libc::madvise(heap, LARGE_PAGE_BYTES, libc::MADV_COLLAPSE);
            libc::free(room);
        }
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = number;
}

/// Whether this is the main thread, and its stack may grow as far as a new thread's. Its heap grows faster than that of
/// another thread (1 to 2 ms a search).
fn has_room() -> bool {
    #[cfg(target_os = "linux")]
    return std::thread::current().name() == Some("main")
        && !is_tight()
        && rustix::process::getrlimit(rustix::process::Resource::Stack)
            .current
            .is_none_or(|limit| limit >= STACK_BYTES as u64);
    #[cfg(not(target_os = "linux"))]
    false
}

/// Does `work` where there is room for it: on a thread with a stack of its own, unless the main one will do. A file that grows beyond its limit is an
/// error from here on.
pub fn with_room(work: impl FnOnce() -> u8 + Send) -> u8 {
    #[cfg(unix)]
    // SAFETY: the signal is left out; the write that caused it fails instead.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if is_tight() {
        // SAFETY: sets a number before there is a second thread. Each heap of a thread takes 64 MB of address space.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
    } else {
        widen_heaps();
    }
    if has_room() {
        return work();
    }
    std::thread::scope(|scope| {
        let thread = Builder::new().name("colgrep".into()).stack_size(STACK_BYTES).spawn_scoped(scope, work);
        match thread {
            // Panics in it are caught inside; the hook has reported others.
            Ok(thread) => thread.join().unwrap_or(FAILED),
            Err(error) => {
                remark!("colgrep: the system gives no room for a thread: {error}");
                FAILED
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_has_a_stack_of_its_own_and_gives_its_status() {
        // More than a thread of a test has.
        let work = || {
            let room = std::hint::black_box([1u8; 3 << 20]);
            room[std::hint::black_box(7)]
        };
        assert_eq!(with_room(work), 1);
    }
}
