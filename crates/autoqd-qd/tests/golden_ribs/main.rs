//! Replays the golden files of pyribs. `AUTOQD_GOLDEN` names another folder that holds `ribs/`.

mod archive;
mod constants;
mod files;
mod other_strategies;
mod replay;
mod statistics;
mod strategies;
