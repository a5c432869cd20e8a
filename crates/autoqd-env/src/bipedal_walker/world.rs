//! The walker's Box2D world behind the C interface of `shim/walker.h`.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

/// Corners of the terrain line.
pub const TERRAIN_POINTS: usize = 200;
/// Corners of the hull.
pub const HULL_CORNERS: usize = 5;
/// Rays of the lidar.
pub const RAYS: usize = 10;
/// Hull and legs.
pub const BODIES: usize = 5;
/// Contacts of one body that an [`Island`] has room for.
pub const BODY_CONTACTS: usize = 4;
/// Of a step.
pub const VELOCITY_ITERATIONS: usize = 180;

/// Upper or lower part of both legs and the joint that holds it.
#[repr(C)]
#[derive(Clone, Debug, Default)]
pub struct Limb {
    pub position: [f32; 2],
    pub half_size: [f32; 2],
    pub density: f32,
    pub friction: f32,
    pub anchor_parent: [f32; 2],
    pub anchor: [f32; 2],
    pub limits: [f32; 2],
    pub motor_speed: [f32; 2],
}

/// All numbers from which a world is built.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Definition {
    pub rays: [[f64; 2]; RAYS],
    pub terrain: [[f32; 2]; TERRAIN_POINTS],
    pub terrain_friction: f32,
    pub hull_position: [f32; 2],
    pub hull_corners: [[f32; 2]; HULL_CORNERS],
    pub hull_density: f32,
    pub hull_friction: f32,
    pub push: f32,
    pub leg_angle: [f32; 2],
    pub motor_torque: f32,
    pub limbs: [Limb; 2],
}

/// Target speed and torque limit of hip 1, knee 1, hip 2, knee 2.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Motors {
    pub speed: [f32; 4],
    pub torque: [f32; 4],
}

/// What the environment reads after a step.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// Hull, upper leg 1, lower leg 1, upper leg 2, lower leg 2: x, y, angle.
    pub pose: [[f32; 3]; 5],
    /// Of the hull: x, y, angular.
    pub velocity: [f32; 3],
    pub joint_angle: [f32; 4],
    pub joint_speed: [f32; 4],
    pub lidar: [f32; RAYS],
    /// Whether each lower leg touches the ground.
    pub contact: [u8; 2],
    /// Whether the hull has touched the ground.
    pub fallen: u8,
}

/// What Box2D makes of a body's definition.
#[repr(C)]
#[derive(Clone, Debug, Default)]
pub struct BodyDescription {
    pub corner_count: u32,
    pub corners: [[f32; 2]; HULL_CORNERS],
    /// Of the side from each corner to the next.
    pub normals: [[f32; 2]; HULL_CORNERS],
    pub centroid: [f32; 2],
    pub local_center: [f32; 2],
    pub inverse_mass: f32,
    pub inverse_inertia: f32,
    /// On the ground.
    pub friction: f32,
    pub position: [f32; 2],
    pub angle: f32,
    pub center: [f32; 2],
}

/// What Box2D makes of a joint's definition.
#[repr(C)]
#[derive(Clone, Debug, Default)]
pub struct HingeDescription {
    /// From the centers of mass of parent and leg.
    pub arms: [[f32; 2]; 2],
    pub reference: f32,
    pub limits: [f32; 2],
}

/// The robot as it stands before its first step.
#[repr(C)]
#[derive(Clone, Debug, Default)]
pub struct Description {
    pub bodies: [BodyDescription; BODIES],
    pub hinges: [HingeDescription; 4],
}

/// Velocity constraints of one joint, between parent and leg.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Joint {
    pub inverse_mass: [f32; 2],
    pub inverse_inertia: [f32; 2],
    pub arm: [[f32; 2]; 2],
    /// Columns of the effective mass.
    pub mass: [[f32; 3]; 3],
    pub motor_mass: f32,
    pub motor_speed: f32,
    pub motor_limit: f32,
    /// -1 at the lower limit, 1 at the upper one, 0 between them.
    pub limit: f32,
    pub impulse: [f32; 3],
    pub motor_impulse: f32,
}

/// One of the points where a body touches the ground.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ContactPoint {
    pub ground_arm: [f32; 2],
    pub arm: [f32; 2],
    pub normal_impulse: f32,
    pub tangent_impulse: f32,
    pub normal_mass: f32,
    pub tangent_mass: f32,
    pub velocity_bias: f32,
}

/// Velocity constraints of one contact of a body with the ground.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Contact {
    pub points: [ContactPoint; 2],
    pub normal: [f32; 2],
    /// Columns.
    pub normal_mass: [[f32; 2]; 2],
    /// Columns.
    pub k: [[f32; 2]; 2],
    pub inverse_mass: f32,
    pub inverse_inertia: f32,
    pub friction: f32,
    /// 1 or 2.
    pub point_count: f32,
}

/// The velocity constraints of a step.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Island {
    /// Hull, upper leg 1, lower leg 1, upper leg 2, lower leg 2: x, y, angular.
    pub velocity: [[f32; 3]; BODIES],
    /// Joint `k` holds body `k + 1`.
    pub joints: [Joint; 4],
    contact_count: [u32; BODIES],
    contacts: [[Contact; BODY_CONTACTS]; BODIES],
}

impl Island {
    /// Of one body, in Box2D's order.
    pub fn contacts(&self, body: usize) -> &[Contact] {
        &self.contacts[body][..self.contact_count[body] as usize]
    }

    /// As [`Island::contacts`].
    pub fn contacts_mut(&mut self, body: usize) -> &mut [Contact] {
        &mut self.contacts[body][..self.contact_count[body] as usize]
    }
}

#[cfg(test)]
impl State {
    /// Every number as its bits.
    pub fn bits(&self) -> Vec<u32> {
        let numbers = self.pose.as_flattened().iter().chain(&self.velocity).chain(&self.joint_angle);
        let numbers = numbers.chain(&self.joint_speed).chain(&self.lidar).map(|x| x.to_bits());
        numbers.chain([self.contact[0], self.contact[1], self.fallen].map(u32::from)).collect()
    }
}

#[cfg(test)]
impl Island {
    /// Velocities and impulses as their bits.
    pub fn bits(&self) -> Vec<u32> {
        let joints =
            self.joints.iter().flat_map(|joint| joint.impulse.into_iter().chain([joint.motor_impulse]));
        let contacts = (0..BODIES).flat_map(|body| self.contacts(body));
        let points = contacts.flat_map(|contact| &contact.points[..contact.point_count as usize]);
        let impulses = points.flat_map(|point| [point.normal_impulse, point.tangent_impulse]);
        let velocities = self.velocity.as_flattened().iter().copied();
        velocities.chain(joints).chain(impulses).map(f32::to_bits).collect()
    }

    /// Constraints of no particular robot, chosen not to diverge.
    pub fn random(number: &mut impl FnMut() -> f32) -> Self {
        let mut island = Self::default();
        island.velocity.as_flattened_mut().iter_mut().for_each(|v| *v = number());
        for joint in &mut island.joints {
            joint.inverse_mass = [0.1; 2];
            joint.inverse_inertia = [0.2; 2];
            joint.arm = [[number(), number()], [number(), number()]];
            joint.mass = [[1.0, 0.1, 0.2], [0.1, 1.2, 0.1], [0.2, 0.1, 0.9]];
            (joint.motor_mass, joint.motor_speed, joint.motor_limit) = (2.0, number(), number().abs());
            joint.limit = (number() * 1.5).round();
        }
        for body in 0..BODIES {
            island.contact_count[body] = (number() * 1.5).abs().round() as u32;
            for contact in island.contacts_mut(body) {
                contact.normal = [0.6, 0.8];
                contact.normal_mass = [[1.0, 0.2], [0.2, 1.1]];
                contact.k = [[1.1, -0.2], [-0.2, 1.0]];
                (contact.inverse_mass, contact.inverse_inertia, contact.friction) = (0.1, 0.2, 0.7);
                contact.point_count = if number() < 0.0 { 1.0 } else { 2.0 };
                for point in &mut contact.points {
                    point.arm = [number(), number()];
                    (point.normal_mass, point.tangent_mass) = (0.5, 0.5);
                    point.normal_impulse = number().abs();
                }
            }
        }
        island
    }
}

/// Sines and cosines of the angles of some lanes, a bit for each, as Box2D takes them.
pub fn rotations(angles: &[f32], lanes: u32, sines: &mut [f32], cosines: &mut [f32]) {
    let count = 32 - lanes.leading_zeros() as usize;
    assert!(count <= angles.len() && count <= sines.len() && count <= cosines.len(), "a lane too many");
    // SAFETY: the function looks at no number beyond the highest bit.
    unsafe { autoqd_box2d_rotations(angles.as_ptr(), lanes, sines.as_mut_ptr(), cosines.as_mut_ptr()) }
}

enum Opaque {}

/// What a pausing step calls when its velocity constraints are known.
pub type Wait = extern "C" fn(*mut c_void);

unsafe extern "C" {
    fn autoqd_walker_new() -> *mut Opaque;
    fn autoqd_walker_free(walker: *mut Opaque);
    fn autoqd_walker_build(walker: *mut Opaque, definition: *const Definition, keep_world: c_int) -> c_int;
    fn autoqd_walker_step(walker: *mut Opaque, motors: *const Motors, state: *mut State) -> c_int;
    fn autoqd_walker_step_pausing(
        walker: *mut Opaque,
        motors: *const Motors,
        state: *mut State,
        island: *mut Island,
        wait: Wait,
        context: *mut c_void,
    ) -> c_int;
    fn autoqd_walker_describe(walker: *mut Opaque, description: *mut Description) -> c_int;
    fn autoqd_box2d_rotations(angles: *const f32, lanes: u32, sines: *mut f32, cosines: *mut f32);
    fn autoqd_walker_advance(walker: *mut Opaque, motors: *const Motors) -> c_int;
    fn autoqd_box2d_failed_assertion() -> *const c_char;
    fn autoqd_box2d_initialize() -> c_int;
    #[cfg(test)]
    fn autoqd_walker_set_hull_velocity(walker: *mut Opaque, x: f32, y: f32);
    #[cfg(test)]
    fn autoqd_walker_sabotage(walker: *mut Opaque);
    #[cfg(test)]
    fn autoqd_box2d_rotate(sin_cos: *const f32, point: *const f32, rotated: *mut f32);
}

/// A failed assertion of Box2D, in its own words.
#[derive(Debug)]
pub struct Failure(pub String);

impl Failure {
    /// Of the last call on this thread that failed.
    pub fn last() -> Self {
        // SAFETY: the shim returns a string literal that it set on this thread.
        let text = unsafe { CStr::from_ptr(autoqd_box2d_failed_assertion()) };
        Self(text.to_string_lossy().into_owned())
    }
}

/// One world. After a failure it has to be built again.
#[derive(Debug)]
pub struct World(NonNull<Opaque>);

// SAFETY: the world belongs to this value alone; Box2D ties nothing to a thread but statistics it only writes.
unsafe impl Send for World {}

impl World {
    /// An empty world.
    pub fn new() -> Result<Self, Failure> {
        static READY: OnceLock<bool> = OnceLock::new();
        // SAFETY: makes and drops a world of its own. The lock keeps other threads off Box2D's tables meanwhile.
        if !*READY.get_or_init(|| unsafe { autoqd_box2d_initialize() } == 1) {
            return Err(Failure::last());
        }
        // SAFETY: no precondition; null when out of memory.
        NonNull::new(unsafe { autoqd_walker_new() }).map(Self).ok_or_else(|| Failure("out of memory".into()))
    }

    /// Builds terrain and robot, in a new Box2D world or, as Gymnasium does, in the emptied old one.
    pub fn build(&mut self, definition: &Definition, keep_world: bool) -> Result<(), Failure> {
        // SAFETY: the pointer is alive until drop, and the struct has the layout of the header.
        let done = unsafe { autoqd_walker_build(self.0.as_ptr(), definition, c_int::from(keep_world)) };
        if done == 1 { Ok(()) } else { Err(Failure::last()) }
    }

    /// One step and the resulting state; `false` if Box2D gave up.
    pub fn step(&mut self, motors: &Motors, state: &mut State) -> bool {
        // SAFETY: as in `build`.
        unsafe { autoqd_walker_step(self.0.as_ptr(), motors, state) == 1 }
    }

    /// The robot of a world that has been built and not yet stepped, which this does.
    pub fn describe(&mut self) -> Result<Description, Failure> {
        let mut description = Description::default();
        // SAFETY: as in `build`.
        let done = unsafe { autoqd_walker_describe(self.0.as_ptr(), &mut description) };
        if done == 1 { Ok(description) } else { Err(Failure::last()) }
    }

    /// A second handle to the world, for a step that pauses.
    pub fn handle(&mut self) -> Handle {
        Handle(self.0)
    }

    /// Box2D's part of a step alone; `false` if Box2D gave up.
    pub fn advance(&mut self, motors: &Motors) -> bool {
        // SAFETY: as in `build`.
        unsafe { autoqd_walker_advance(self.0.as_ptr(), motors) == 1 }
    }

    #[cfg(test)]
    pub fn set_hull_velocity(&mut self, x: f32, y: f32) {
        // SAFETY: as in `build`.
        unsafe { autoqd_walker_set_hull_velocity(self.0.as_ptr(), x, y) }
    }

    /// Makes an assertion of Box2D fail in the next step that has a contact.
    #[cfg(test)]
    pub fn sabotage(&mut self) {
        // SAFETY: as in `build`.
        unsafe { autoqd_walker_sabotage(self.0.as_ptr()) }
    }
}

/// Access to a world that is owned elsewhere.
pub struct Handle(NonNull<Opaque>);

impl Handle {
    /// As [`World::step`], but the velocity constraints are written to `island` and `wait` is called, after which
    /// `island` must hold their solution. Constraints that do not fit are solved by Box2D, without a call.
    ///
    /// # Safety
    /// Until this returns, the world exists and nobody else uses it, and `island` is valid and used by nobody else
    /// but `wait`, or whoever runs while it waits.
    pub unsafe fn step(
        self,
        motors: &Motors,
        state: &mut State,
        island: *mut Island,
        wait: Wait,
        context: *mut c_void,
    ) -> bool {
        // SAFETY: by the caller's promise; the structs have the layout of the header.
        unsafe { autoqd_walker_step_pausing(self.0.as_ptr(), motors, state, island, wait, context) == 1 }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: made by autoqd_walker_new, freed once.
        unsafe { autoqd_walker_free(self.0.as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fused multiply-add would keep the digits that the rounding of the product drops.
    #[test]
    fn box2d_is_compiled_without_fused_multiply_adds() {
        let mut fused_would_differ = 0;
        for i in 1..2000_u16 {
            let [s, c] = [f32::from(i) * 0.37, f32::from(i) * 0.61].map(f32::sin);
            let [x, y] = [f32::from(i).sqrt(), 1.0 / f32::from(i)];
            let mut rotated = [0.0; 2];
            // SAFETY: three arrays of two numbers, as the function takes them.
            unsafe { autoqd_box2d_rotate([s, c].as_ptr(), [x, y].as_ptr(), rotated.as_mut_ptr()) };
            assert_eq!(rotated, [c * x - s * y, s * x + c * y]);
            fused_would_differ += usize::from(c.mul_add(x, -(s * y)) != rotated[0]);
        }
        assert!(fused_would_differ > 100, "these numbers would not show a fused multiply-add");
    }
}
