//! Three numbers and a pose, as a renderer wants them.

use std::ops::{Add, Mul, Neg, Sub};

use autoqd_env::Pose;

/// A point or a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct V3 {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

#[inline]
pub(crate) const fn v3(x: f64, y: f64, z: f64) -> V3 {
    V3 { x, y, z }
}

impl V3 {
    #[inline]
    pub fn dot(self, o: V3) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    #[inline]
    pub fn cross(self, o: V3) -> V3 {
        v3(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)
    }

    #[inline]
    pub fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    #[inline]
    pub fn unit(self) -> V3 {
        let length = self.length();
        if length > 0.0 { self * (1.0 / length) } else { v3(0.0, 0.0, 1.0) }
    }
}

impl From<[f64; 3]> for V3 {
    fn from([x, y, z]: [f64; 3]) -> V3 {
        v3(x, y, z)
    }
}

impl Add for V3 {
    type Output = V3;
    #[inline]
    fn add(self, o: V3) -> V3 {
        v3(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl Sub for V3 {
    type Output = V3;
    #[inline]
    fn sub(self, o: V3) -> V3 {
        v3(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}

impl Mul<f64> for V3 {
    type Output = V3;
    #[inline]
    fn mul(self, s: f64) -> V3 {
        v3(self.x * s, self.y * s, self.z * s)
    }
}

impl Neg for V3 {
    type Output = V3;
    #[inline]
    fn neg(self) -> V3 {
        self * -1.0
    }
}

/// A pose whose axes are columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub origin: V3,
    axes: [V3; 3],
}

impl From<&Pose> for Frame {
    fn from(pose: &Pose) -> Self {
        let r = &pose.rotation;
        let axis = |i: usize| v3(r[i], r[3 + i], r[6 + i]);
        Self { origin: pose.position.into(), axes: [axis(0), axis(1), axis(2)] }
    }
}

impl Frame {
    /// The z axis in the world.
    #[inline]
    pub fn z(&self) -> V3 {
        self.axes[2]
    }

    /// A point of this frame in the world.
    pub fn point(&self, p: V3) -> V3 {
        self.origin + self.turn(p)
    }

    /// A direction of this frame in the world.
    #[inline]
    pub fn turn(&self, d: V3) -> V3 {
        self.axes[0] * d.x + self.axes[1] * d.y + self.axes[2] * d.z
    }

    /// A direction of the world in this frame.
    #[inline]
    pub fn turn_back(&self, d: V3) -> V3 {
        v3(self.axes[0].dot(d), self.axes[1].dot(d), self.axes[2].dot(d))
    }
}
