//! Places inside each other, such as a repository below another one: every file is searched in one of them.

use std::path::MAIN_SEPARATOR_STR;

use crate::error::Result;
use crate::request::rules::is_below;
use crate::session::project_searcher::ProjectSearcher;

/// The same places, in which no file is searched twice: what one inside another looks in is left out of the outer one, and
/// of two in one project the first gives way. What is left out still counts in the statistics, as with every filter.
pub fn searched_once(places: Vec<ProjectSearcher>) -> Result<Vec<ProjectSearcher>> {
    let twice = |at: usize| -> Vec<String> {
        let others = places.iter().enumerate().filter(|(other, _)| *other != at);
        others.flat_map(|(other, inner)| shared(&places[at], inner, at < other)).collect()
    };
    let twice: Vec<Vec<String>> = (0..places.len()).map(twice).collect();
    let once = |(place, twice): (ProjectSearcher, Vec<String>)| {
        if twice.is_empty() { Ok(place) } else { place.without(twice) }
    };
    places.into_iter().zip(twice).map(once).collect()
}

/// The paths where both search, from the outer one's root; empty if `inner` lies elsewhere. `gives_way` is whether
/// `outer` is the outer one of two in one project.
fn shared(outer: &ProjectSearcher, inner: &ProjectSearcher, gives_way: bool) -> Vec<String> {
    let front = inner.project.root.strip_prefix(&outer.project.root).ok().and_then(|front| front.to_str());
    let Some(front) = front.filter(|front| gives_way || !front.is_empty()) else { return Vec::new() };
    let front = front.replace(MAIN_SEPARATOR_STR, "/");
    let mut shared = Vec::new();
    for below in &inner.within.below {
        let path = [front.as_str(), below].join("/");
        let path = path.trim_matches('/');
        for own in &outer.within.below {
            if is_below(path, own) {
                shared.push(path.to_string());
            } else if is_below(own, path) {
                shared.push(own.clone());
            }
        }
    }
    shared
}
