//! What one elite consists of.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, check_parameter};

/// A named vector stored with every elite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The name.
    pub name: String,
    /// How many numbers.
    pub width: usize,
}

/// The shape of an elite: sizes of solution and measures, and the extra fields in declared order.
///
/// The fields of an elite follow one another in one row; [`Schema::field_range`] finds one.
///
/// ```
/// use autoqd_qd::Schema;
/// let schema = Schema::new(800, 4)?.with_field("features", 100)?.with_field("length", 1)?;
/// assert_eq!(schema.fields_width(), 101);
/// assert_eq!(schema.field_range("length")?, 100..101);
/// # Ok::<(), autoqd_qd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    solution_dim: usize,
    measure_dim: usize,
    fields: Vec<Field>,
}

impl Schema {
    /// Elites of `solution_dim` parameters and `measure_dim` measures, without extra fields.
    ///
    /// # Errors
    /// When a size is 0.
    pub fn new(solution_dim: usize, measure_dim: usize) -> Result<Self> {
        check_parameter(solution_dim > 0, "solution_dim", solution_dim, "use at least one parameter")?;
        check_parameter(measure_dim > 0, "measure_dim", measure_dim, "use at least one measure")?;
        Ok(Self { solution_dim, measure_dim, fields: Vec::new() })
    }

    /// Declares one more field.
    ///
    /// # Errors
    /// When the width is 0 or the name is taken.
    pub fn with_field(mut self, name: &str, width: usize) -> Result<Self> {
        check_parameter(width > 0, "field width", width, "leave the field out instead")?;
        let free = self.fields.iter().all(|f| f.name != name);
        check_parameter(free, "field name", name, "each field needs its own name")?;
        self.fields.push(Field { name: name.to_owned(), width });
        Ok(self)
    }

    /// Parameters per solution.
    pub fn solution_dim(&self) -> usize {
        self.solution_dim
    }

    /// Measures per solution.
    pub fn measure_dim(&self) -> usize {
        self.measure_dim
    }

    /// The extra fields in declared order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Numbers in all extra fields together.
    pub fn fields_width(&self) -> usize {
        self.fields.iter().map(|f| f.width).sum()
    }

    /// Where a field lies in the row of fields.
    ///
    /// # Errors
    /// When no field has this name.
    pub fn field_range(&self, name: &str) -> Result<std::ops::Range<usize>> {
        let mut start = 0;
        for field in &self.fields {
            if field.name == name {
                return Ok(start..start + field.width);
            }
            start += field.width;
        }
        let declared = self.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ");
        Err(Error::UnknownField { name: name.to_owned(), declared })
    }
}
