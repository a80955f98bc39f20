//! Whether the file system of a folder reports every change in it: one on a network does not report what others write.

use std::path::Path;

/// File systems that this machine's kernel alone changes, by their numbers in `statfs(2)`: ext, XFS, Btrfs, tmpfs,
/// ramfs, overlayfs, ZFS, F2FS, bcachefs, JFS, NILFS, eCryptfs, VFAT, exFAT, NTFS. Others (NFS, SMB, 9P, FUSE, folders
/// of a virtual machine's host) may be changed from elsewhere without an event here.
#[cfg(target_os = "linux")]
const LOCAL: [u32; 15] = [
    0xEF53,
    0x5846_5342,
    0x9123_683E,
    0x0102_1994,
    0x8584_58F6,
    0x794C_7630,
    0x2FC1_2FC1,
    0xF2F5_2010,
    0xCA45_1A4E,
    0x3153_464A,
    0x3434,
    0xF15F,
    0x4D44,
    0x2011_BAB0,
    0x7366_746E,
];

/// Whether a watcher of the folder sees every change in it.
pub(super) fn tells_of_changes(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return rustix::fs::statfs(folder).is_ok_and(|system| is_local(system.f_type as u32));
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        true
    }
}

#[cfg(target_os = "linux")]
fn is_local(system: u32) -> bool {
    LOCAL.contains(&system)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_others_write_to_is_not_local() {
        // NFS, SMB 1 to 3, 9P, FUSE, folders of VirtualBox; and what the kernel itself makes up.
        for system in [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x6573_5546, 0x786F_4256, 0x9FA0] {
            assert!(!is_local(system), "{system:x}");
        }
        assert!(!tells_of_changes(Path::new("/proc/self")));
        assert!(!tells_of_changes(Path::new("/there is no such folder")));
    }
}
