//! A long short-term memory layer over whole sequences, as one differentiable operation.
//!
//! With x in R^d, H units and gates in the order i, f, g, o: a = W_x x + W_h h + b, i = sig(a_i), f = sig(a_f),
//! g = tanh(a_g), o = sig(a_o), c' = f c + i g, h' = o tanh(c'). W_x x + b comes in for all steps at once; this
//! operation does the part that runs through time. As a chain of tensor operations, a layer of 100 steps has over a
//! thousand nodes and takes three times as long.

use candle_core::{Device, Result, Shape, Tensor, WithDType, bail};

use crate::operation::{Function, Real, add_product, flat, matrix};

fn sigmoid<T: Real>(x: T) -> T {
    let half = <T as WithDType>::from_f64(0.5);
    half * (half * x).tanh() + half
}

/// One step of one sequence: `gates` are the sums a; state `h` and memory `c` are replaced.
pub fn step<T: Real>(gates: &[T], h: &mut [T], c: &mut [T]) {
    let units = h.len();
    let (i, rest) = gates.split_at(units);
    let (f, rest) = rest.split_at(units);
    let (g, o) = rest.split_at(units);
    for j in 0..units {
        c[j] = sigmoid(f[j]) * c[j] + sigmoid(i[j]) * g[j].tanh();
        h[j] = sigmoid(o[j]) * c[j].tanh();
    }
}

/// The layer. Arguments: W_x x + b of all steps (steps, batch, 4 H), W_h (H, 4 H) and the first h (batch, H); the
/// first c is 0. Result: h and c after every step, (2, steps, batch, H). A sequence that has ended keeps both.
pub struct Recurrence {
    /// Steps of each sequence of the batch.
    pub lengths: Vec<usize>,
}

/// Sizes of a batch.
#[derive(Clone, Copy)]
struct Sizes {
    steps: usize,
    batch: usize,
    units: usize,
}

impl Sizes {
    fn of(shape: &Shape, lengths: &[usize]) -> Result<Self> {
        let (steps, batch, gates) = shape.dims3()?;
        if batch != lengths.len() || !gates.is_multiple_of(4) || steps == 0 {
            bail!("a batch of shape {shape:?} with {} lengths", lengths.len());
        }
        Ok(Self { steps, batch, units: gates / 4 })
    }

    /// Numbers in h of one step.
    fn state(&self) -> usize {
        self.batch * self.units
    }
}

impl Function for Recurrence {
    const NAME: &'static str = "recurrence";

    fn shape(&self, [inputs, _, _]: [&Shape; 3]) -> Result<Shape> {
        let Sizes { steps, batch, units } = Sizes::of(inputs, &self.lengths)?;
        Ok(Shape::from((2, steps, batch, units)))
    }

    fn forward<T: Real>(&self, shapes: [&Shape; 3], [inputs, weights, first]: [&[T]; 3]) -> Result<Vec<T>> {
        let sizes = Sizes::of(shapes[0], &self.lengths)?;
        let Sizes { steps, batch, units } = sizes;
        let weights = matrix(weights, units, 4 * units);
        let mut out = vec![T::zero(); 2 * steps * sizes.state()];
        let (mut h, mut c) = (first.to_vec(), vec![T::zero(); sizes.state()]);
        let mut gates = vec![T::zero(); 4 * sizes.state()];
        for t in 0..steps {
            gates.copy_from_slice(&inputs[4 * t * sizes.state()..][..4 * sizes.state()]);
            add_product(&mut gates, matrix(&h, batch, units), weights);
            for row in (0..batch).filter(|row| t < self.lengths[*row]) {
                let own = row * units..(row + 1) * units;
                step(&gates[row * 4 * units..][..4 * units], &mut h[own.clone()], &mut c[own]);
            }
            out[t * sizes.state()..][..sizes.state()].copy_from_slice(&h);
            out[(steps + t) * sizes.state()..][..sizes.state()].copy_from_slice(&c);
        }
        Ok(out)
    }

    /// Backpropagation through time: gradients of the inputs, W_h and the first h.
    fn backward<T: Real>(
        &self,
        [inputs, weights, first]: [&Tensor; 3],
        result: &Tensor,
        gradient: &Tensor,
    ) -> Result<[Option<Tensor>; 3]> {
        let sizes = Sizes::of(inputs.shape(), &self.lengths)?;
        let Sizes { steps, batch, units } = sizes;
        let before = [flat(first)?, flat(&result.get(0)?.narrow(0, 0, steps - 1)?)?].concat();
        let (before, weights) = (matrix(&before, steps * batch, units), flat(weights)?);
        let weights = matrix(&weights, units, 4 * units);
        let mut gates = flat(inputs)?;
        add_product(&mut gates, before, weights);
        let (memory, gradient) = (flat::<T>(&result.get(1)?)?, flat::<T>(gradient)?);
        let zeros = vec![T::zero(); sizes.state()];
        let (mut dh, mut dc) = (zeros.clone(), zeros.clone());
        for t in (0..steps).rev() {
            let at = |t: usize| t * sizes.state()..(t + 1) * sizes.state();
            dh.iter_mut().zip(&gradient[at(t)]).for_each(|(d, g)| *d += *g);
            dc.iter_mut().zip(&gradient[at(steps + t)]).for_each(|(d, g)| *d += *g);
            let memory_before = if t == 0 { &zeros } else { &memory[at(t - 1)] };
            let own = &mut gates[t * 4 * sizes.state()..][..4 * sizes.state()];
            for row in 0..batch {
                let state = row * units..(row + 1) * units;
                let gates = &mut own[row * 4 * units..][..4 * units];
                if t < self.lengths[row] {
                    let (dh, dc) = (&mut dh[state.clone()], &mut dc[state.clone()]);
                    step_back(gates, &memory_before[state], dh, dc);
                } else {
                    gates.fill(T::zero());
                }
            }
            add_product(&mut dh, matrix(own, batch, 4 * units), weights.transpose());
        }
        let mut weights = vec![T::zero(); units * 4 * units];
        add_product(&mut weights, before.transpose(), matrix(&gates, steps * batch, 4 * units));
        Ok([
            Some(Tensor::from_vec(gates, (steps, batch, 4 * units), &Device::Cpu)?),
            Some(Tensor::from_vec(weights, (units, 4 * units), &Device::Cpu)?),
            Some(Tensor::from_vec(dh, (batch, units), &Device::Cpu)?),
        ])
    }
}

/// The derivative of [`step`]: sums a are replaced by their gradients, `dc` by that of the c before; `dh` is used up,
/// because h before reaches h after only through the sums.
#[inline(never)] // Inlined it took more than twice the time.
fn step_back<T: Real>(gates: &mut [T], c_before: &[T], dh: &mut [T], dc: &mut [T]) {
    let (units, one) = (dh.len(), T::one());
    let (gate_i, rest) = gates.split_at_mut(units);
    let (gate_f, rest) = rest.split_at_mut(units);
    let (gate_g, gate_o) = rest.split_at_mut(units);
    for j in 0..units {
        let (i, f) = (sigmoid(gate_i[j]), sigmoid(gate_f[j]));
        let (g, o) = (gate_g[j].tanh(), sigmoid(gate_o[j]));
        let tanh_c = (f * c_before[j] + i * g).tanh();
        let d = dc[j] + dh[j] * o * (one - tanh_c * tanh_c);
        gate_i[j] = d * g * i * (one - i);
        gate_f[j] = d * c_before[j] * f * (one - f);
        gate_g[j] = d * i * (one - g * g);
        gate_o[j] = dh[j] * tanh_c * o * (one - o);
        dc[j] = d * f;
        dh[j] = T::zero();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::apply;
    use crate::random::Stream;
    use candle_core::Var;

    fn random(shape: &[usize], stream: &mut Stream) -> Var {
        let n = shape.iter().product();
        let values: Vec<f64> = (0..n).map(|_| f64::from(stream.symmetric(1.0))).collect();
        Var::from_tensor(&Tensor::from_vec(values, shape, &Device::Cpu).unwrap()).unwrap()
    }

    /// A sum of h and c with random weights, so that every output has its own gradient.
    fn value(args: &[Var; 3], weights: &Tensor, lengths: &[usize]) -> Tensor {
        let op = Recurrence { lengths: lengths.to_vec() };
        let out = apply(op, args.each_ref().map(Var::as_tensor)).unwrap();
        (out * weights).unwrap().sum_all().unwrap()
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        check_gradients(4, &[4, 1, 3]);
    }

    #[test]
    fn gradients_are_right_where_every_sequence_has_a_single_step() {
        check_gradients(1, &[1, 1, 1]);
    }

    fn check_gradients(steps: usize, lengths: &[usize]) {
        let mut stream = Stream::new(1);
        let shapes: [&[usize]; 3] = [&[steps, 3, 8], &[2, 8], &[3, 2]];
        let args = shapes.map(|shape| random(shape, &mut stream));
        let weights = random(&[2, steps, 3, 2], &mut stream).as_tensor().clone();
        let gradients = value(&args, &weights, lengths).backward().unwrap();
        for (arg, shape) in args.iter().zip(shapes) {
            let gradient = gradients.get(arg).unwrap().flatten_all().unwrap().to_vec1::<f64>().unwrap();
            let values = arg.flatten_all().unwrap().to_vec1::<f64>().unwrap();
            for i in 0..values.len() {
                let at = |delta: f64| {
                    let mut moved = values.clone();
                    moved[i] += delta;
                    arg.set(&Tensor::from_vec(moved, shape, &Device::Cpu).unwrap()).unwrap();
                    value(&args, &weights, lengths).to_scalar::<f64>().unwrap()
                };
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                at(0.0);
                let error = (difference - gradient[i]).abs() / difference.abs().max(1e-2);
                assert!(error < 1e-6, "{shape:?} {i}: {difference} and {}", gradient[i]);
            }
        }
    }

    #[test]
    fn an_ended_sequence_keeps_its_state_whatever_stands_in_the_padding() {
        let mut stream = Stream::new(2);
        let shapes: [&[usize]; 3] = [&[4, 3, 8], &[2, 8], &[3, 2]];
        let args = shapes.map(|shape| random(shape, &mut stream));
        let run = |inputs: &Tensor| {
            let op = Recurrence { lengths: vec![4, 1, 3] };
            apply(op, [inputs, &args[1], &args[2]]).unwrap().to_vec1_of_h()
        };
        let h = run(args[0].as_tensor());
        let mut values = args[0].flatten_all().unwrap().to_vec1::<f64>().unwrap();
        values[(3 * 3 + 1) * 8] = 1e6;
        values[(3 * 3 + 2) * 8 + 5] = f64::NAN;
        assert_eq!(h, run(&Tensor::from_vec(values, shapes[0], &Device::Cpu).unwrap()));
        assert_eq!(h[2..4], h[3 * 6 + 2..3 * 6 + 4], "the second sequence has one step");
    }

    trait Flat {
        fn to_vec1_of_h(&self) -> Vec<f64>;
    }

    impl Flat for Tensor {
        fn to_vec1_of_h(&self) -> Vec<f64> {
            self.get(0).unwrap().flatten_all().unwrap().to_vec1().unwrap()
        }
    }
}
