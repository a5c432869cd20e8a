//! Differentiable operations of three arguments, written once for single and double precision, and the matrix products
//! in them, on the calling thread.
//!
//! candle's own product asks the operating system for the number of cores each time, which takes longer than the
//! products of our sizes: with it a training takes two to three times as long.

use autoqd::kernels::clean_registers;
use candle_core::{CpuStorage, CustomOp3, DType, Layout, Result, Shape, Tensor, WithDType, bail};
use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};

/// Numbers a network can be computed in: single precision for training, double for checking gradients.
pub trait Real: WithDType + ComplexField {
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
}

impl Real for f32 {
    fn tanh(self) -> Self {
        autoqd::kernels::tanh(self)
    }
}

impl Real for f64 {
    fn tanh(self) -> Self {
        libm::tanh(self)
    }
}

/// A matrix with these rows, one after the other.
pub fn matrix<T: Real>(values: &[T], rows: usize, columns: usize) -> MatRef<'_, T> {
    MatRef::from_row_major_slice(values, rows, columns)
}

/// Adds the product of two matrices to a third one, given as its rows.
pub fn add_product<T: Real>(sum: &mut [T], a: MatRef<'_, T>, b: MatRef<'_, T>) {
    let sum = MatMut::from_row_major_slice_mut(sum, a.nrows(), b.ncols());
    matmul(sum, Accum::Add, a, b, <T as WithDType>::from_f64(1.0), Par::Seq);
    clean_registers();
}

/// A function of three tensors with its derivative.
pub trait Function: Send + Sync {
    /// Name for candle's messages.
    const NAME: &'static str;

    /// Shape of the result for arguments of these shapes.
    fn shape(&self, args: [&Shape; 3]) -> Result<Shape>;

    /// The result, from the numbers of the arguments.
    fn forward<T: Real>(&self, shapes: [&Shape; 3], args: [&[T]; 3]) -> Result<Vec<T>>;

    /// Gradients of the arguments from that of the result; none for an argument that needs none.
    fn backward<T: Real>(
        &self,
        args: [&Tensor; 3],
        result: &Tensor,
        gradient: &Tensor,
    ) -> Result<[Option<Tensor>; 3]>;
}

/// Applies a function to contiguous tensors.
pub fn apply(function: impl Function + 'static, [a, b, c]: [&Tensor; 3]) -> Result<Tensor> {
    a.apply_op3(b, c, Operation(function))
}

/// All numbers of a tensor.
pub fn flat<T: Real>(tensor: &Tensor) -> Result<Vec<T>> {
    tensor.flatten_all()?.to_vec1()
}

struct Operation<F>(F);

fn slice<'a, T: Real>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [T]> {
    let values = storage.as_slice::<T>()?;
    match layout.contiguous_offsets() {
        Some((start, end)) => Ok(&values[start..end]),
        None => bail!("the arguments must be contiguous"),
    }
}

impl<F: Function> CustomOp3 for Operation<F> {
    fn name(&self) -> &'static str {
        F::NAME
    }

    fn cpu_fwd(
        &self,
        s1: &CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
        s3: &CpuStorage,
        l3: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let shapes = [l1, l2, l3].map(Layout::shape);
        let out = match s1 {
            CpuStorage::F32(_) => {
                CpuStorage::F32(self.0.forward(shapes, [slice(s1, l1)?, slice(s2, l2)?, slice(s3, l3)?])?)
            }
            CpuStorage::F64(_) => {
                CpuStorage::F64(self.0.forward(shapes, [slice(s1, l1)?, slice(s2, l2)?, slice(s3, l3)?])?)
            }
            _ => bail!("{} computes in f32 or f64", F::NAME),
        };
        Ok((out, self.0.shape(shapes)?))
    }

    fn bwd(
        &self,
        a: &Tensor,
        b: &Tensor,
        c: &Tensor,
        result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let [a, b, c] = match a.dtype() {
            DType::F64 => self.0.backward::<f64>([a, b, c], result, gradient)?,
            _ => self.0.backward::<f32>([a, b, c], result, gradient)?,
        };
        Ok((a, b, c))
    }
}
