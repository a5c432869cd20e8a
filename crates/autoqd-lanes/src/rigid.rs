//! Scalar rigid-body algebra for compiling a model.

pub(crate) type Vec3 = [f64; 3];
/// A matrix by rows.
pub(crate) type Mat3 = [f64; 9];

pub(crate) const IDENTITY: Mat3 = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

/// Entries of a rotation below this are rounding noise.
pub(crate) const NOISE: f64 = 1e-15;

/// Rounding noise of a rotation's entries becomes zero, so that the engine can skip exact zeros.
fn clean(x: f64) -> f64 {
    if x.abs() < NOISE { 0.0 } else { x }
}

/// The rotation matrix of a unit quaternion.
pub(crate) fn rotation(q: [f64; 4]) -> Mat3 {
    let [w, x, y, z] = q;
    [
        w * w + x * x - y * y - z * z,
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        w * w - x * x + y * y - z * z,
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        w * w - x * x - y * y + z * z,
    ]
    .map(clean)
}

pub(crate) fn multiply(a: &Mat3, b: &Mat3) -> Mat3 {
    std::array::from_fn(|i| (0..3).map(|k| a[i / 3 * 3 + k] * b[3 * k + i % 3]).sum()).map(clean)
}

pub(crate) fn rotate(a: &Mat3, v: Vec3) -> Vec3 {
    std::array::from_fn(|i| (0..3).map(|k| a[3 * i + k] * v[k]).sum())
}

pub(crate) fn column(a: &Mat3, k: usize) -> Vec3 {
    [a[k], a[3 + k], a[6 + k]]
}

pub(crate) fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn add(a: Vec3, b: Vec3) -> Vec3 {
    std::array::from_fn(|i| a[i] + b[i])
}

pub(crate) fn scale(a: Vec3, s: f64) -> Vec3 {
    a.map(|x| x * s)
}

/// A position and an orientation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pose {
    pub(crate) position: Vec3,
    pub(crate) rotation: Mat3,
}

impl Pose {
    pub(crate) const ORIGIN: Self = Self { position: [0.0; 3], rotation: IDENTITY };

    pub(crate) fn new(position: Vec3, orientation: [f64; 4]) -> Self {
        Self { position, rotation: rotation(orientation) }
    }

    /// `inner`, given in this frame, in the frame this pose is given in.
    pub(crate) fn then(&self, inner: &Pose) -> Pose {
        let rotation = match inner.rotation == IDENTITY {
            true => self.rotation.map(clean),
            false => multiply(&self.rotation, &inner.rotation),
        };
        Pose { position: self.point(inner.position), rotation }
    }

    pub(crate) fn point(&self, p: Vec3) -> Vec3 {
        add(self.position, rotate(&self.rotation, p))
    }
}

/// Mass, centre and principal inertia of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MassProperties {
    pub(crate) mass: f64,
    pub(crate) center: Vec3,
    /// Columns are the principal axes.
    pub(crate) axes: Mat3,
    pub(crate) moments: Vec3,
}

impl MassProperties {
    /// The inertia matrix about `point`.
    fn about(&self, point: Vec3) -> Mat3 {
        let d = add(self.center, scale(point, -1.0));
        let d2 = dot(d, d);
        std::array::from_fn(|n| {
            let (i, j) = (n / 3, n % 3);
            let own: f64 =
                (0..3).map(|k| self.axes[3 * i + k] * self.moments[k] * self.axes[3 * j + k]).sum();
            own + self.mass * (if i == j { d2 } else { 0.0 } - d[i] * d[j])
        })
    }

    /// The properties of both together.
    pub(crate) fn join(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        if other.mass == 0.0 && other.moments == [0.0; 3] {
            return *self;
        }
        if mass == 0.0 {
            return *other;
        }
        let center = scale(add(scale(self.center, self.mass), scale(other.center, other.mass)), 1.0 / mass);
        let (a, b) = (self.about(center), other.about(center));
        let (axes, moments) = diagonalize(std::array::from_fn(|i| a[i] + b[i]));
        Self { mass, center, axes, moments }
    }
}

/// Eigenvectors (as columns) and eigenvalues of a symmetric matrix, by Jacobi rotations.
fn diagonalize(mut a: Mat3) -> (Mat3, Vec3) {
    let mut v = IDENTITY;
    for _ in 0..30 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[3 * p + q].abs() <= 1e-17 * (a[0] + a[4] + a[8]) {
                continue;
            }
            let theta = 0.5 * (a[4 * q] - a[4 * p]) / a[3 * p + q];
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let mut g = IDENTITY;
            (g[4 * p], g[4 * q], g[3 * p + q], g[3 * q + p]) = (c, c, t * c, -t * c);
            let gt: Mat3 = std::array::from_fn(|n| g[n % 3 * 3 + n / 3]);
            a = multiply(&gt, &multiply(&a, &g));
            v = multiply(&v, &g);
        }
    }
    (v, [a[0], a[4], a[8]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_bodies_keep_their_inertia_about_any_point() {
        let axes = rotation([0.5, 0.5, -0.5, 0.5]);
        let a = MassProperties { mass: 2.0, center: [0.1, -0.3, 0.2], axes, moments: [0.3, 0.4, 0.5] };
        let tilted = rotation([0.8, 0.6, 0.0, 0.0]);
        let b =
            MassProperties { mass: 0.7, center: [-0.4, 0.3, 0.9], axes: tilted, moments: [0.1, 0.2, 0.15] };
        let joint = a.join(&b);
        let p = [0.3, 0.2, -0.7];
        let (x, y, z) = (a.about(p), b.about(p), joint.about(p));
        for i in 0..9 {
            assert!((x[i] + y[i] - z[i]).abs() < 1e-14, "{i}: {} {}", x[i] + y[i], z[i]);
        }
    }
}
