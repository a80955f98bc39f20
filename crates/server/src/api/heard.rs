//! What is heard while an index is opened.

use std::sync::{Mutex, PoisonError};

use colgrep_cluster::FileProgress;
use colgrep_engine::notice::{IndexState, Listener, NotUpdated, Notice, Traced};
use colgrep_index::error::is_no_room;
use colgrep_index::update::Progress;

use colgrep_render::notice;

/// Hears of an index that is opened whether it was brought up to date; the rest is the listener's.
pub struct Heard<'l> {
    listener: &'l dyn Listener,
    told: Mutex<UpdateHeard>,
}

#[derive(Debug, Default)]
pub struct UpdateHeard {
    /// Why the index could not be compared with the files.
    pub unlike: Option<String>,
    /// How many files are up to date in it, if not all.
    pub known: Option<FileProgress>,
    /// Whether it could not be written for want of room; `None` where an update did not come to its end.
    pub has_no_room: Option<bool>,
}

impl<'l> Heard<'l> {
    /// Forwards to a listener and records what it hears.
    pub fn new(listener: &'l dyn Listener) -> Heard<'l> {
        let told = UpdateHeard { has_no_room: Some(false), ..UpdateHeard::default() };
        Heard { listener, told: Mutex::new(told) }
    }

    pub fn told(self) -> UpdateHeard {
        self.told.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Heard<'_> {
    fn hears(&self) -> bool {
        true
    }

    fn notice(&self, notice: &Notice) {
        let of = |state: &IndexState| FileProgress { known: state.files_read, in_tree: state.files_in_tree };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        match notice {
            Notice::AsItIs { state, why } => {
                let has_no_room = match why {
                    NotUpdated::Failed { refused, .. } => Some(refused.is_some_and(is_no_room)),
                    _ => None,
                };
                *told = UpdateHeard { unlike: Some(notice::text(notice)), known: Some(of(state)), has_no_room };
            }
            Notice::FirstPart(state) => {
                (told.unlike, told.known) = (Some(notice::text(notice)), Some(of(state)));
            }
            Notice::Unfinished { unread, in_tree, .. } => {
                told.has_no_room = None;
                told.known = Some(FileProgress { known: in_tree.saturating_sub(*unread), in_tree: Some(*in_tree) });
            }
            _ => {}
        }
        drop(told);
        self.listener.notice(notice);
    }

    fn progress(&self) -> Box<dyn Progress + '_> {
        self.listener.progress()
    }

    fn stops(&self) -> bool {
        self.listener.stops()
    }

    fn traces(&self) -> bool {
        self.listener.traces()
    }

    fn trace(&self, query: &str, step: &Traced<'_>) {
        self.listener.trace(query, step);
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn only_an_update_that_ended_tells_whether_there_is_room() {
        let heard = |notice: Option<Notice>| {
            let heard = Heard::new(&());
            notice.iter().for_each(|notice| heard.notice(notice));
            heard.told().has_no_room
        };
        let as_it_is =
            |why| Notice::AsItIs { why, state: IndexState { files_read: 1, files_in_tree: None, vectors: None } };
        let failed = |kind| as_it_is(NotUpdated::Failed { why: "why".to_string(), refused: Some(kind) });
        assert_eq!(heard(None), Some(false));
        assert_eq!(heard(Some(failed(ErrorKind::StorageFull))), Some(true));
        assert_eq!(heard(Some(failed(ErrorKind::PermissionDenied))), Some(false));
        assert_eq!(heard(Some(as_it_is(NotUpdated::Busy))), None);
        assert_eq!(heard(Some(Notice::Unfinished { unread: 1, in_tree: 2, is_done_behind: false })), None);
    }
}
