//! The entry point: an environment, options for opening projects, and a listener.

use std::path::Path;
use std::sync::Arc;

use crate::answer::Answer;
use crate::error::Result;
use crate::notice::Listener;
use crate::project::open::OpenOptions;
use crate::request::{Question, SearchRequest};
use crate::session::Session;
use crate::settings::env::Env;

/// Answers requests about any project.
#[derive(Clone)]
pub struct Engine {
    env: Env,
    options: OpenOptions,
    listener: Arc<dyn Listener>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine in an environment, with default options, to which nobody listens.
    pub fn new(env: Env) -> Engine {
        Engine { env, options: OpenOptions::default(), listener: Arc::new(()) }
    }

    /// Opens projects so.
    #[must_use]
    pub fn options(self, options: OpenOptions) -> Engine {
        Engine { options, ..self }
    }

    /// Tells `listener` what happens.
    #[must_use]
    pub fn listener(self, listener: Arc<dyn Listener>) -> Engine {
        Engine { listener, ..self }
    }

    /// A session with the settings in force at `start`. It opens each project once, however often it is asked.
    ///
    /// # Errors
    /// When a settings file can't be read or is not to be understood.
    pub fn session(&self, start: &Path) -> Result<Session> {
        Session::new(self.env.clone(), start, &self.options, Arc::clone(&self.listener))
    }

    /// Answers one request, with the settings in force where it searches.
    pub fn search(&self, request: &SearchRequest) -> Result<Answer> {
        let here = Path::new(".");
        let start = match (request.scope.paths.first(), &request.question) {
            (Some(path), _) => path,
            (None, Question::Like { file, .. }) => file,
            (None, Question::Text(_) | Question::Every | Question::LikeUnit(_)) => here,
        };
        self.session(start)?.search(request)
    }
}
