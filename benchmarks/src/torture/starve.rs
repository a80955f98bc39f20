//! `starve`: too little disk, memory, handles, or no streams. The end is an answer, or a sentence and status 2; and the
//! next run has all it needs.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::subject::Subject;
use super::{Tally, TortureArgs, go_through};
use crate::process::{Ended, run as ended};
use crate::speed::process::Program;

/// Megabytes of address space beyond the program's own: the system starts none that does not fit.
const ADDRESS_SPACE_MB: [u32; 9] = [24, 32, 48, 64, 96, 128, 256, 512, 1_024];
/// Limits on handles, including the three streams and one to start with.
const HANDLES: [u32; 8] = [4, 5, 6, 8, 10, 14, 20, 32];
/// Longest file, in blocks of 512 bytes: a disk that is full after so much.
const FILE_BLOCKS: [u32; 10] = [0, 1, 2, 4, 8, 16, 24, 40, 80, 160];
/// Stack of the main thread, in KiB.
const STACK_KIB: [u32; 4] = [128, 256, 512, 1_024];
/// What is done, starved.
const COMMANDS: [&[&str]; 6] = [
    &["init", "--quiet"],
    &["parse header"],
    &["send", "-e", "Ring\\d", "--json"],
    &["-e", "fn worker"],
    &["status"],
    &["doctor", "--verify"],
];

/// Something that is missing.
#[derive(Clone, Debug)]
enum Want {
    /// A limit of the shell's `ulimit`.
    Limit(&'static str, u32),
    /// A stream that is closed or full, as the shell writes it.
    Stream(&'static str),
    /// A folder for indexes that can't be written.
    ReadOnly,
    /// A disk of this many KiB, where one can be mounted.
    SmallDisk(u32),
}

#[derive(Clone, Debug)]
struct Case {
    want: Want,
    words: &'static [&'static str],
    /// Whether there is an index already.
    indexed: bool,
}

fn cases(program_mb: u32) -> Vec<Case> {
    let mut wants: Vec<Want> = Vec::new();
    wants.extend(ADDRESS_SPACE_MB.map(|mb| Want::Limit("-v", (program_mb + mb) << 10)));
    for (flag, values) in [("-n", &HANDLES[..]), ("-f", &FILE_BLOCKS), ("-s", &STACK_KIB)] {
        wants.extend(values.iter().map(|value| Want::Limit(flag, *value)));
    }
    wants.extend(
        ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full"].map(Want::Stream),
    );
    wants.push(Want::ReadOnly);
    wants.extend([64, 128, 256, 512, 1_024].map(Want::SmallDisk));
    let of = |want: &Want, words: &'static [&'static str]| {
        [false, true].map(|indexed| Case { want: want.clone(), words, indexed })
    };
    wants.iter().flat_map(|want| COMMANDS.into_iter().flat_map(move |words| of(want, words))).collect()
}

/// Runs the kind, where there is a shell with `ulimit`.
pub(super) fn run(args: &TortureArgs) -> Result<Vec<Tally>> {
    if !cfg!(unix) {
        return Ok(Vec::new());
    }
    let subject = Subject::new()?;
    let data = subject.data("data");
    let program = Program::colgrep(args.colgrep.as_deref())?.with_data(&data);
    let bytes = fs::metadata(program.command(&[]).get_program())?.len();
    let program_mb = u32::try_from(bytes >> 20)?;
    let tally = go_through(args, "starve", cases(program_mb), |case, counts| {
        fs::create_dir_all(&data)?;
        let whole = |words: &[&str]| -> Result<Ended> {
            ended(program.command(words).args(mode(words)).current_dir(&subject.root))
        };
        let mut expected = None;
        if case.indexed {
            whole(&["init", "--quiet"])?;
            expected = Some(whole(case.words)?.out);
            // Something to do.
            subject.write(2, 4)?;
        }
        let Some(starved) = starved(&program, &subject, &data, case)? else {
            *counts.entry("not to be had here").or_default() += 1;
            return Ok(Vec::new());
        };
        *counts.entry(if starved.code() == Some(2) { "refused" } else { "done" }).or_default() += 1;
        let said = format!("{case:?}");
        let mut failures: Vec<_> = starved.wrong().into_iter().collect();
        let tells = !matches!(case.want, Want::Stream(_)) || starved.code() != Some(2);
        if starved.code() == Some(2) && starved.err.trim().is_empty() && tells {
            failures.push(("silent failure", String::new()));
        }
        if starved.code() == Some(2) && starved.err.contains("writer was killed") {
            failures.push(("no cause", starved.err.clone()));
        }
        subject.write(2, 0)?;
        let after = whole(&["init", "--quiet"])?;
        if after.code() != Some(0) {
            failures.push(("stuck", after.err));
        }
        if let Some(expected) = expected
            && case.words[0] != "status"
            && case.words[0] != "doctor"
        {
            let found = whole(case.words)?.out;
            if found != expected {
                failures.push(("other answers", super::subject::first_difference(&expected, &found)));
            }
        }
        fs::remove_dir_all(&data)?;
        Ok(failures.into_iter().map(|(kind, text)| (kind, format!("{said}: {text}"))).collect())
    })?;
    Ok(vec![tally])
}

fn mode(words: &[&str]) -> &'static [&'static str] {
    if ["status", "doctor"].contains(&words[0]) { &[] } else { &["--index-mode", "keyword"] }
}

/// Runs the case's command in want; `None` where that want can't be made here.
fn starved(program: &Program, subject: &Subject, data: &Path, case: &Case) -> Result<Option<Ended>> {
    let command = program.command(case.words);
    let mut words: Vec<_> = std::iter::once(command.get_program().to_os_string())
        .chain(command.get_args().map(std::ffi::OsStr::to_os_string))
        .collect();
    words.extend(mode(case.words).iter().map(Into::into));
    let script = match &case.want {
        Want::Limit(flag, value) => format!("ulimit {flag} {value} || exit 99; exec \"$@\""),
        Want::Stream(stream) => format!("exec \"$@\" {stream}"),
        Want::ReadOnly | Want::SmallDisk(_) => "exec \"$@\"".to_string(),
    };
    let mounted = match case.want {
        Want::SmallDisk(kib) => match Mounted::on(data, kib)? {
            None => return Ok(None),
            mounted => mounted,
        },
        _ => None,
    };
    if matches!(case.want, Want::ReadOnly) {
        read_only(data, true)?;
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, "sh"]).args(&words).env("COLGREP_DATA_DIR", data).current_dir(&subject.root);
    let ended = ended(&mut shell)?;
    drop(mounted);
    if matches!(case.want, Want::ReadOnly) {
        read_only(data, false)?;
    }
    Ok(Some(ended).filter(|ended| ended.code() != Some(99)))
}

fn read_only(folder: &Path, yes: bool) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_only(&path, yes)?;
        }
    }
    let mut permissions = fs::metadata(folder)?.permissions();
    #[cfg(unix)]
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, if yes { 0o500 } else { 0o700 });
    #[cfg(not(unix))]
    permissions.set_readonly(yes);
    Ok(fs::set_permissions(folder, permissions)?)
}

/// A small disk mounted over a folder, with as much of its content as fits.
struct Mounted<'a>(&'a Path);

impl Mounted<'_> {
    /// `None` where the user may not mount.
    fn on(folder: &Path, kib: u32) -> Result<Option<Mounted<'_>>> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={kib}k,mode=700"), "none"]).arg(folder);
        Ok(mount.output().is_ok_and(|output| output.status.success()).then_some(Mounted(folder)))
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        // Unmounting shows the folder's content again.
        let _ = Command::new("umount").arg(self.0).output();
    }
}
