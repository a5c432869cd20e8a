//! What `run` and `status` add to the numbers of the search: fresh episodes of the best elites, and elites out of bounds.

use std::path::Path;

use autoqd::registry::Registry;
use autoqd::run_folder::Status;
use autoqd_measure::{Again, LoadedRun, best_again};

use crate::measuring::bench;

/// Elites that are rolled out again, and episodes of each: a second or two of simulation.
const BEST: usize = 5;
const EPISODES: usize = 8;

/// More of the best elites than this outside the bounds are worth a word.
const MANY_OUTSIDE: f64 = 0.2;

/// One line about the best elites of a run; `None` if there are none, or they cannot be rolled out here: whoever asked
/// wants to know about the run, and gets that without this line.
pub fn fresh_returns(folder: &Path, registry: &Registry) -> Option<String> {
    let run = LoadedRun::open(folder).ok()?;
    let again = best_again(&run, BEST, EPISODES, &bench(registry, None).ok()?).ok()?;
    line(&again)
}

fn line(again: &[Again]) -> Option<String> {
    let best = again.first()?;
    let fresh = best.fresh.as_ref()?;
    let error = fresh.standard_error.map_or_else(String::new, |e| format!(" ± {e:.1}"));
    let mut text = format!(
        "fresh seeds: the best elite, #{}, found with {:.1}, returns {:.1}{error} in {} new episodes of the reference \
         simulator",
        best.id, best.found, fresh.mean, fresh.count
    );
    let several: Vec<(f64, f64)> =
        again.iter().filter_map(|a| Some((a.found, a.fresh.as_ref()?.mean))).collect();
    if several.len() > 1 {
        let n = several.len() as f64;
        let found = several.iter().map(|(found, _)| found).sum::<f64>() / n;
        let mean = several.iter().map(|(_, fresh)| fresh).sum::<f64>() / n;
        text += &format!("; the best {}, found with {found:.1} on average, {mean:.1}", several.len());
    }
    Some(text)
}

/// What to do when many of the best elites lie outside the archive's bounds.
pub fn outside_note(status: &Status, follows: bool) -> Option<String> {
    let share = status.outside.filter(|share| *share > MANY_OUTSIDE)?;
    let remedy = match (follows, status.method.as_str()) {
        (true, _) => "the bounds follow them already: more iterations bring them inside",
        (_, "regular") => {
            "run with wider bounds, for instance --set 'bounds=[[0, 2], [0, 2]]' with a pair per measure"
        }
        _ => "run with --set bounds=follow, which scales the measures as the best elites move on",
    };
    Some(format!(
        "{:.0} % of the best fifth of the elites lie outside the archive's bounds and share its border cells; {remedy}",
        100.0 * share
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use autoqd_measure::Estimate;

    #[test]
    fn the_line_says_which_return_is_which() {
        let again = |id, found, returns: &[f64]| Again { id, found, fresh: Estimate::of(returns) };
        let text = line(&[again(7, 20.0, &[9.0, 11.0]), again(3, 18.0, &[14.0, 14.0])]).unwrap();
        assert_eq!(
            text,
            "fresh seeds: the best elite, #7, found with 20.0, returns 10.0 ± 1.0 in 2 new episodes of the reference \
             simulator; the best 2, found with 19.0 on average, 12.0"
        );
        assert_eq!(line(&[again(7, 20.0, &[f64::NAN])]), None, "nothing to say when every episode diverged");
        assert_eq!(line(&[]), None);
    }
}
