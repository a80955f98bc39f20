//! Execution providers: the ones that were compiled in, before the CPU.

use ort::ep::ExecutionProviderDispatch;
use ort::session::Session;
use ort::session::builder::SessionBuilder;

use super::library::Library;

/// The provider that is always there.
pub(crate) const CPU: &str = "CPU";

/// Providers in the order they are tried; the features `cuda`, `coreml` and `directml` add theirs.
pub(crate) fn compiled() -> Vec<(&'static str, Option<ExecutionProviderDispatch>)> {
    vec![
        #[cfg(feature = "cuda")]
        ("CUDA", Some(ort::ep::CUDA::default().build().error_on_failure())),
        #[cfg(feature = "coreml")]
        ("CoreML", Some(ort::ep::CoreML::default().build().error_on_failure())),
        #[cfg(feature = "directml")]
        ("DirectML", Some(ort::ep::DirectML::default().build().error_on_failure())),
        (CPU, None),
    ]
}

/// A session of the first provider that makes one with `commit`, and its name.
pub(crate) fn first(
    library: &Library,
    commit: impl Fn(SessionBuilder) -> ort::Result<Session>,
) -> ort::Result<(Session, &'static str)> {
    let mut result = Err(ort::Error::new("no execution provider"));
    for (name, provider) in compiled() {
        result = session(library, provider, &commit).map(|session| (session, name));
        if result.is_ok() {
            break;
        }
    }
    result
}

/// A session of the provider of that name.
pub(crate) fn named(
    library: &Library,
    name: &str,
    commit: impl Fn(SessionBuilder) -> ort::Result<Session>,
) -> ort::Result<Session> {
    let provider = compiled().into_iter().find(|(known, _)| *known == name).and_then(|(_, provider)| provider);
    session(library, provider, &commit)
}

fn session(
    library: &Library,
    provider: Option<ExecutionProviderDispatch>,
    commit: &impl Fn(SessionBuilder) -> ort::Result<Session>,
) -> ort::Result<Session> {
    let builder = Session::builder(&library.environment)?;
    let builder = match provider {
        Some(provider) => builder.with_execution_providers([provider])?,
        None => builder,
    };
    commit(builder)
}
