//! The one error type of the crate.

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong. Every message names the thing, the place and the remedy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A slice or a batch has the wrong size.
    #[error("{what}: expected {expected}, got {got}; {remedy}")]
    Shape {
        /// What was measured, e.g. "objectives of the batch".
        what: &'static str,
        /// The size that fits.
        expected: usize,
        /// The size that was given.
        got: usize,
        /// What to do.
        remedy: &'static str,
    },
    /// A parameter of a constructor is invalid.
    #[error("{name} = {value} is not allowed; {remedy}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A non-finite number, where strict mode is on or no row can be dropped.
    #[error("{what} of row {row} is not finite; {remedy}")]
    NonFinite {
        /// Which number: "objective", "measures", ...
        what: &'static str,
        /// The row of the batch (or the index in the vector).
        row: usize,
        /// What to do.
        remedy: &'static str,
    },
    /// An elite is needed and there is none.
    #[error("cannot sample from an empty archive; add solutions before sampling, or check is_empty() first")]
    EmptyArchive,
    /// `tell` without a preceding `ask`, or with the answer to another one.
    #[error("{call} was called out of order; {remedy}")]
    Order {
        /// The call.
        call: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A field name that the schema does not declare.
    #[error("no field named {name:?} is declared; declared fields: {declared}")]
    UnknownField {
        /// The name asked for.
        name: String,
        /// The declared names.
        declared: String,
    },
    /// An operation that this strategy or archive does not offer.
    #[error("{what} is not supported by {by}; {remedy}")]
    Unsupported {
        /// The operation.
        what: &'static str,
        /// The type that does not support it.
        by: &'static str,
        /// What to do.
        remedy: &'static str,
    },
}

/// Returns a shape error unless `got == expected`.
pub(crate) fn check_len(what: &'static str, expected: usize, got: usize, remedy: &'static str) -> Result<()> {
    if expected == got { Ok(()) } else { Err(Error::Shape { what, expected, got, remedy }) }
}

/// Returns a parameter error unless `ok`.
pub(crate) fn check_parameter(
    ok: bool,
    name: &'static str,
    value: impl std::fmt::Debug,
    remedy: &'static str,
) -> Result<()> {
    if ok { Ok(()) } else { Err(Error::Parameter { name, value: format!("{value:?}"), remedy }) }
}

/// Returns an error naming the first non-finite number of `values`.
pub(crate) fn check_finite(what: &'static str, values: &[f64], remedy: &'static str) -> Result<()> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(row) => Err(Error::NonFinite { what, row, remedy }),
    }
}
