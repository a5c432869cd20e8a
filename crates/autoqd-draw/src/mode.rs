//! Light and dark pictures.

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Dark ink on white.
    #[default]
    Light,
    /// Light ink on near black.
    Dark,
}
