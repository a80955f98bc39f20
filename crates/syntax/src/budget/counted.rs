//! Allocation functions for the C library that count the bytes of each thread. They call the system's allocator and add
//! no header, so memory from before they are installed may be freed by them, and vice versa.
#![expect(unsafe_code, reason = "functions that the C library calls for its memory")]

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::{c_int, c_uint, c_ushort, c_void};
use std::sync::Once;

#[cfg(windows)]
use libc::_msize as size_of_allocation;
#[cfg(target_vendor = "apple")]
use libc::malloc_size as size_of_allocation;
#[cfg(not(any(windows, target_vendor = "apple")))]
use libc::malloc_usable_size as size_of_allocation;
use rustc_hash::FxBuildHasher;
use tree_sitter::Allocator;

use super::Peak;

/// As `StackNode` in tree-sitter's `stack.c`, for its size: `malloc` allocates each separately. A test detects another
/// size.
#[repr(C)]
struct StackNode {
    state: c_ushort,
    position: [u32; 3],
    links: [(*mut c_void, *mut c_void, bool); 8],
    link_count: c_ushort,
    ref_count: u32,
    error_cost: c_uint,
    node_count: c_uint,
    dynamic_precedence: c_int,
}

const STACK_NODE_BYTES: usize = size_of::<StackNode>();
/// Maximum of extra bytes that an allocator may return.
const SLACK_BYTES: usize = 64;

thread_local! {
    /// Bytes held: those allocated on this thread less those freed on it.
    static BYTES: Cell<usize> = const { Cell::new(0) };
    static BYTES_BEFORE: Cell<usize> = const { Cell::new(0) };
    static BYTES_PEAK: Cell<usize> = const { Cell::new(0) };
    /// Where the nodes of parse stacks are, of those allocated since the last budget began. Blocks of that size that
    /// are something else are few.
    static NODES: RefCell<HashSet<usize, FxBuildHasher>> = const { RefCell::new(HashSet::with_hasher(FxBuildHasher)) };
    static NODES_PEAK: Cell<usize> = const { Cell::new(0) };
}

/// Counts from here on, on this thread.
pub(super) fn begin() {
    static INSTALLED: Once = Once::new();
    // SAFETY: the four functions hand every call on to the system's allocator, so pointers may go from the library's own
    // functions to these. They may be called from any thread at any time and do not unwind.
    INSTALLED.call_once(|| unsafe { tree_sitter::set_allocator(Some(Allocator { malloc, calloc, realloc, free })) });
    BYTES_BEFORE.set(BYTES.get());
    BYTES_PEAK.set(BYTES.get());
    NODES_PEAK.set(0);
    NODES.with_borrow_mut(HashSet::clear);
}

/// The current use, above that at the beginning.
pub(super) fn now() -> Peak {
    let bytes = BYTES.get().saturating_sub(BYTES_BEFORE.get());
    Peak { bytes, stack_nodes: NODES.with_borrow(HashSet::len) }
}

/// The most that was held since the beginning.
pub(super) fn peak() -> Peak {
    let bytes = BYTES_PEAK.get().saturating_sub(BYTES_BEFORE.get());
    Peak { bytes, stack_nodes: NODES_PEAK.get() }
}

/// Ends the process as failed, as a program without memory for anything else can.
fn no_memory() -> ! {
    let said = b"colgrep: the system gives no more memory to parse with\n";
    #[cfg(unix)]
    // SAFETY: writes bytes that live as long as the program, and ends it.
    unsafe {
        libc::write(2, said.as_ptr().cast(), said.len());
        libc::_exit(2);
    }
    #[cfg(not(unix))]
    {
        let _ = said;
        std::process::abort();
    }
}

/// Usable bytes at `pointer`: at least the requested ones.
fn size(pointer: *mut c_void) -> usize {
    if pointer.is_null() {
        return 0;
    }
    // SAFETY: only pointers of the system's allocator that are not freed yet get here.
    unsafe { size_of_allocation(pointer.cast()) }
}

/// Counts an allocation. tree-sitter does not check for null, so the process ends with a message if out of memory.
fn taken(pointer: *mut c_void, wanted: usize) -> *mut c_void {
    if pointer.is_null() && wanted > 0 {
        no_memory();
    }
    let bytes = BYTES.get() + size(pointer);
    BYTES.set(bytes);
    BYTES_PEAK.set(BYTES_PEAK.get().max(bytes));
    pointer
}

/// Counts memory that is about to be freed.
fn given_back(pointer: *mut c_void) {
    let bytes = size(pointer);
    BYTES.set(BYTES.get().saturating_sub(bytes));
    if (STACK_NODE_BYTES..STACK_NODE_BYTES + SLACK_BYTES).contains(&bytes) {
        // At the thread's end the set may be gone, and counting is over.
        let _ = NODES.try_with(|nodes| nodes.borrow_mut().remove(&pointer.addr()));
    }
}

unsafe extern "C" fn malloc(wanted: usize) -> *mut c_void {
    // SAFETY: any size is allowed.
    let pointer = taken(unsafe { libc::malloc(wanted) }, wanted);
    if wanted == STACK_NODE_BYTES {
        let _ = NODES.try_with(|nodes| {
            let mut nodes = nodes.borrow_mut();
            nodes.insert(pointer.addr());
            NODES_PEAK.set(NODES_PEAK.get().max(nodes.len()));
        });
    }
    pointer
}

unsafe extern "C" fn calloc(count: usize, each: usize) -> *mut c_void {
    // SAFETY: any size is allowed; one that overflows returns null.
    taken(unsafe { libc::calloc(count, each) }, count.saturating_mul(each))
}

unsafe extern "C" fn realloc(pointer: *mut c_void, wanted: usize) -> *mut c_void {
    given_back(pointer);
    // SAFETY: tree-sitter passes null, or a pointer from the system's allocator, obtained here or before.
    taken(unsafe { libc::realloc(pointer, wanted) }, wanted)
}

unsafe extern "C" fn free(pointer: *mut c_void) {
    given_back(pointer);
    // SAFETY: as for `realloc`.
    unsafe { libc::free(pointer) };
}
