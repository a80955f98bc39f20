//! The native half of the Python package `colgrep`: requests come in as JSON, answers go out as JSON. The package's
//! Python half (`python/colgrep`) makes typed results of them.
//!
//! Everything here requires the feature `module`, which the package's build sets.
#![cfg(feature = "module")]

mod answer;
mod failure;
mod request;
mod watch;
mod work;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use colgrep_engine::history::HistoryPlace;
use colgrep_engine::project::model::Model;
use colgrep_engine::project::open::update;
use colgrep_engine::project::{Project, settings_at};
use colgrep_engine::settings::env::Env;
use colgrep_engine::{Engine, OpenOptions, Session as EngineSession};
use colgrep_syntax::worker;
use pyo3::prelude::*;

use crate::failure::Result;
use crate::watch::CallWatch;

/// A project that is open.
#[pyclass(frozen)]
struct Session {
    root: PathBuf,
    options: OpenOptions,
    env: Env,
    /// The indexes as last opened; the next request that compares with the files reopens them.
    opened: Mutex<Option<EngineSession>>,
}

#[pymethods]
impl Session {
    /// Finds the project around a path. Nothing is built yet.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, options: &str, data_folder: Option<PathBuf>) -> PyResult<Session> {
        let found = work::run(py, &CallWatch::default(), None, || {
            let env = environment(data_folder)?;
            let (project, _) = Project::around(&path, &env)?;
            Ok((request::open_options(options)?, env, project.root))
        });
        let (options, env, root) = found?;
        Ok(Session { root, options, env, opened: Mutex::new(None) })
    }

    /// The project's root, absolute.
    #[getter]
    fn root(&self) -> PathBuf {
        self.root.clone()
    }

    /// Brings the index up to date, all vectors included. `progress` is called with a phase, what is done and all.
    fn update(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<String> {
        work::check_process()?;
        let watch = CallWatch::default();
        work::run(py, &watch, progress, || {
            let (mut project, _) = Project::around(&self.root, &self.env)?;
            project.check_size(&self.env, self.options.any_root)?;
            let settings = project.settings(&self.env)?;
            let opening = self.options.with(&settings);
            let model = Model::of_index(&opening.choice, &self.env.working_on([&project.root]))?;
            let encoding = model.as_ref().and_then(|model| model.encoding(None));
            let (snapshot, report) = update(&project, Some(&opening.walk), true, encoding.as_ref(), &watch)?;
            *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
            answer::update(&snapshot, &report, watch.take())
        })
    }

    /// Answers a search. With `compare` the index is compared with the files first.
    fn search(&self, py: Python<'_>, request: &str, compare: bool) -> PyResult<String> {
        work::check_process()?;
        let watch = Arc::new(CallWatch::default());
        work::run(py, &watch, None, || {
            let request = request::search(request, &self.root)?;
            let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            let mut session = match opened.take().filter(|_| !compare) {
                Some(session) => session,
                None => {
                    let mut options = self.options.clone();
                    options.update = compare;
                    let engine = Engine::new(self.env.clone()).options(options);
                    engine.listener(Arc::<CallWatch>::clone(&watch)).session(&self.root)?
                }
            };
            let found = session.search(&request)?;
            *opened = Some(session);
            answer::search(&found, watch.take())
        })
    }

    /// Answers a question about the history.
    fn history(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        work::check_process()?;
        let watch = CallWatch::default();
        work::run(py, &watch, None, || {
            let request = request::history(request, &self.root)?;
            let settings = settings_at(&self.root, &self.env)?;
            let place = HistoryPlace::around(&self.root, &settings, &self.env)?;
            let is_ranked = request.query.is_some();
            let opening = self.options.with(&settings);
            let model = match is_ranked {
                true => Model::of_search(&opening.choice, request.ranking.by, &self.env.working_on([&self.root]))?,
                false => None,
            };
            let found = place.answer(&request, (&settings, &self.env), model.as_ref(), &watch)?;
            answer::history(&found, watch.take())
        })
    }

    /// The state of the index; nothing is built.
    fn status(&self, py: Python<'_>) -> PyResult<String> {
        work::run(py, &CallWatch::default(), None, || {
            let (project, _) = Project::around(&self.root, &self.env)?;
            answer::status(&project)
        })
    }
}

/// The current environment, with the indexes in `data_folder` if given.
#[expect(clippy::disallowed_methods, reason = "the module is a program's edge: here the environment is read")]
fn environment(data_folder: Option<PathBuf>) -> Result<Env> {
    let given = data_folder.map(|folder| ("COLGREP_DATA_DIR".into(), folder.into_os_string()));
    let vars = std::env::vars_os().filter(|(name, _)| given.is_none() || name != "COLGREP_DATA_DIR");
    Ok(Env::read(vars.chain(given.clone()))?)
}

/// From here on, processes of `program` parse files: the command of the same build.
#[pyfunction]
fn parse_with(program: PathBuf) {
    worker::enable(program);
}

/// The native half of `colgrep`.
#[pymodule]
fn _colgrep(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Failure", module.py().get_type::<failure::Native>())?;
    module.add_function(wrap_pyfunction!(parse_with, module)?)?;
    module.add_class::<Session>()
}
