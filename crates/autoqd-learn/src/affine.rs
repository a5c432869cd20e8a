//! Products of matrices, and layers x W + b, on the calling thread.
//!
//! candle's own product asks the operating system for the number of cores each time, which takes longer than the
//! products of our sizes: with it a training takes two to three times as long.

use autoqd::kernels::clean_registers;
use candle_core::{CpuStorage, CustomOp3, DType, Device, Layout, Result, Shape, Tensor, WithDType, bail};
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

/// The numbers of a contiguous argument of an operation.
pub fn slice<'a, T: Real>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [T]> {
    let values = storage.as_slice::<T>()?;
    match layout.contiguous_offsets() {
        Some((start, end)) => Ok(&values[start..end]),
        None => bail!("arguments of a layer must be contiguous"),
    }
}

/// x W + b for every row of x; W has a row per input, b is one row.
pub fn affine(x: &Tensor, weights: &Tensor, bias: &Tensor) -> Result<Tensor> {
    x.apply_op3(weights, bias, Affine)
}

struct Affine;

/// Rows of x, inputs and outputs of a layer.
fn sizes(x: &Shape, weights: &Shape, bias: &Shape) -> Result<(usize, usize, usize)> {
    let ((rows, inputs), (expected, outputs)) = (x.dims2()?, weights.dims2()?);
    if inputs != expected || bias.dims2()? != (1, outputs) {
        bail!("a layer of {weights:?} and {bias:?} cannot be applied to {x:?}");
    }
    Ok((rows, inputs, outputs))
}

impl Affine {
    fn forward<T: Real>(
        (rows, inputs, outputs): (usize, usize, usize),
        x: &[T],
        weights: &[T],
        bias: &[T],
    ) -> Vec<T> {
        let mut y = bias.repeat(rows);
        add_product(&mut y, matrix(x, rows, inputs), matrix(weights, inputs, outputs));
        y
    }

    fn backward<T: Real>(x: &Tensor, weights: &Tensor, gradient: &Tensor) -> Result<[Option<Tensor>; 3]> {
        let ((rows, inputs), outputs) = (x.dims2()?, weights.dim(1)?);
        let of_y = gradient.flatten_all()?.to_vec1::<T>()?;
        let of_y = matrix(&of_y, rows, outputs);
        let product = |a: MatRef<'_, T>, b: MatRef<'_, T>| {
            let mut out = vec![T::zero(); a.nrows() * b.ncols()];
            add_product(&mut out, a, b);
            Tensor::from_vec(out, (a.nrows(), b.ncols()), &Device::Cpu)
        };
        // Data has no gradient.
        let of_x = match x.track_op() {
            true => {
                let weights = weights.flatten_all()?.to_vec1::<T>()?;
                Some(product(of_y, matrix(&weights, inputs, outputs).transpose())?)
            }
            false => None,
        };
        let x = x.flatten_all()?.to_vec1::<T>()?;
        let of_weights = product(matrix(&x, rows, inputs).transpose(), of_y)?;
        let of_bias = product(matrix(&vec![T::one(); rows], 1, rows), of_y)?;
        Ok([of_x, Some(of_weights), Some(of_bias)])
    }
}

impl CustomOp3 for Affine {
    fn name(&self) -> &'static str {
        "affine"
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
        let sizes = sizes(l1.shape(), l2.shape(), l3.shape())?;
        let out = match s1 {
            CpuStorage::F32(_) => {
                CpuStorage::F32(Self::forward(sizes, slice(s1, l1)?, slice(s2, l2)?, slice(s3, l3)?))
            }
            CpuStorage::F64(_) => {
                CpuStorage::F64(Self::forward(sizes, slice(s1, l1)?, slice(s2, l2)?, slice(s3, l3)?))
            }
            _ => bail!("a layer computes in f32 or f64"),
        };
        Ok((out, Shape::from((sizes.0, sizes.2))))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weights: &Tensor,
        _bias: &Tensor,
        _result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let [x, weights, bias] = match x.dtype() {
            DType::F64 => Self::backward::<f64>(x, weights, gradient)?,
            _ => Self::backward::<f32>(x, weights, gradient)?,
        };
        Ok((x, weights, bias))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;
    use candle_core::Var;

    #[test]
    fn values_and_gradients_are_those_of_plain_tensor_operations() {
        let mut stream = Stream::new(2);
        let mut random = |rows: usize, columns: usize| {
            let values: Vec<f64> = (0..rows * columns).map(|_| f64::from(stream.symmetric(1.0))).collect();
            Var::from_vec(values, (rows, columns), &Device::Cpu).unwrap()
        };
        let args = [random(7, 5), random(5, 3), random(1, 3)];
        let weight = random(7, 3).as_tensor().clone();
        let [x, w, b] = args.each_ref().map(Var::as_tensor);
        let (ours, plain) = (affine(x, w, b).unwrap(), x.matmul(w).unwrap().broadcast_add(b).unwrap());
        let gradients = |y: &Tensor| (y * &weight).unwrap().sum_all().unwrap().backward().unwrap();
        let (our_gradients, plain_gradients) = (gradients(&ours), gradients(&plain));
        let pairs = args.iter().map(|arg| (our_gradients.get(arg), plain_gradients.get(arg)));
        for (a, b) in pairs.chain([(Some(&ours), Some(&plain))]) {
            let far = (a.unwrap() - b.unwrap()).unwrap().abs().unwrap().max_all().unwrap();
            assert!(far.to_scalar::<f64>().unwrap() < 1e-14);
        }
        let data = x.detach();
        assert!(gradients(&affine(&data, w, b).unwrap()).get(&data).is_none(), "data needs no gradient");
        assert!(affine(x, b, w).is_err());
    }
}
