//! A ring buffer of fixed size.

const std = @import("std");
const Allocator = std.mem.Allocator;
pub const page_size: usize = 4096;
var generation: u32 = 0;
threadlocal var scratch: [64]u8 = undefined;

/// What can go wrong while writing.
pub const WriteError = error{ Full, Closed };

/// Where the ring is.
pub const State = enum(u8) {
    empty,
    /// Neither empty nor full.
    partial,
    full = 9,

    pub fn isReadable(self: State) bool {
        return self != .empty;
    }
};

/// Holds the newest `capacity` values.
pub fn Ring(comptime T: type, comptime capacity: usize) type {
    return struct {
        const Self = @This();

        items: [capacity]T = undefined,
        head: usize = 0,

        /// Adds a value at the end.
        pub fn push(self: *Self, value: T) WriteError!void {
            const next = (self.head + 1) % capacity;
            self.items[next] = value;
            self.head = next;
        }
    };
}

const Header = packed struct {
    magic: u32 = 0xCAFE,
    length: u16,

    pub const size = @sizeOf(Header);

    // Reads a header from bytes.
    fn parse(bytes: []const u8) !Header {
        var reader = std.io.fixedBufferStream(bytes);
        return reader.reader().readStruct(Header);
    }

    const Flags = struct {
        closed: bool,
    };
};

const Value = union(enum) {
    number: i64,
    text: []const u8,
};

const Handle = opaque {};

extern "c" fn fsync(fd: c_int) c_int;

export fn ring_version() callconv(.C) u32 {
    return generation;
}

pub inline fn max(a: u32, b: u32) u32 {
    return if (a > b) a else b;
}

pub fn main() !void {
    var gpa = std.heap.GeneralPurposeAllocator(.{}){};
    defer _ = gpa.deinit();
    const Ring8 = Ring(u8, 8);
    var ring = Ring8{};
    try ring.push(1);
    std.debug.print("{d}\n", .{ring.head});
}

usingnamespace @import("extra.zig");

comptime {
    _ = Header;
}

test "push moves the head" {
    var ring = Ring(u8, 4){};
    try ring.push(7);
    try std.testing.expectEqual(@as(usize, 1), ring.head);
}

test Header {
    _ = Header.size;
}

test {
    std.testing.refAllDecls(@This());
}

const Trouble = error{ Missing, Broken } || Other;
