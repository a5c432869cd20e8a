//! Layers x W + b as one differentiable operation.

use candle_core::{Device, Result, Shape, Tensor, bail};
use faer::MatRef;

use crate::operation::{Function, Real, add_product, apply, flat, matrix};

/// x W + b for every row of x; W has a row per input, b is one row.
pub fn affine(x: &Tensor, weights: &Tensor, bias: &Tensor) -> Result<Tensor> {
    apply(Affine, [x, weights, bias])
}

struct Affine;

/// Rows of x, inputs and outputs of a layer.
fn sizes([x, weights, bias]: [&Shape; 3]) -> Result<(usize, usize, usize)> {
    let ((rows, inputs), (expected, outputs)) = (x.dims2()?, weights.dims2()?);
    if inputs != expected || bias.dims2()? != (1, outputs) {
        bail!("a layer of {weights:?} and {bias:?} cannot be applied to {x:?}");
    }
    Ok((rows, inputs, outputs))
}

impl Function for Affine {
    const NAME: &'static str = "affine";

    fn shape(&self, args: [&Shape; 3]) -> Result<Shape> {
        let (rows, _, outputs) = sizes(args)?;
        Ok(Shape::from((rows, outputs)))
    }

    fn forward<T: Real>(&self, shapes: [&Shape; 3], [x, weights, bias]: [&[T]; 3]) -> Result<Vec<T>> {
        let (rows, inputs, outputs) = sizes(shapes)?;
        let mut y = bias.repeat(rows);
        add_product(&mut y, matrix(x, rows, inputs), matrix(weights, inputs, outputs));
        Ok(y)
    }

    fn backward<T: Real>(
        &self,
        [x, weights, _bias]: [&Tensor; 3],
        _result: &Tensor,
        gradient: &Tensor,
    ) -> Result<[Option<Tensor>; 3]> {
        let ((rows, inputs), outputs) = (x.dims2()?, weights.dim(1)?);
        let of_y = flat::<T>(gradient)?;
        let of_y = matrix(&of_y, rows, outputs);
        let product = |a: MatRef<'_, T>, b: MatRef<'_, T>| {
            let mut out = vec![T::zero(); a.nrows() * b.ncols()];
            add_product(&mut out, a, b);
            Tensor::from_vec(out, (a.nrows(), b.ncols()), &Device::Cpu)
        };
        // Data has no gradient.
        let of_x = match x.track_op() {
            true => Some(product(of_y, matrix(&flat(weights)?, inputs, outputs).transpose())?),
            false => None,
        };
        let of_weights = product(matrix(&flat(x)?, rows, inputs).transpose(), of_y)?;
        let of_bias = product(matrix(&vec![T::one(); rows], 1, rows), of_y)?;
        Ok([of_x, Some(of_weights), Some(of_bias)])
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
