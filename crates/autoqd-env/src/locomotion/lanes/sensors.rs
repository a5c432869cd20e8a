//! Sensors of a model, from what the lanes engine knows after a step.

use super::support::named;
use crate::mujoco::{Model, Object};
use autoqd_lanes::{Batch, LanesError};
use mujoco_rs::prelude::{MjtDataType, MjtJoint, MjtSensor as Kind};

/// What a frame sensor is fixed to.
#[derive(Clone, Copy, Debug)]
struct Frame {
    body: usize,
    position: [f64; 3],
    orientation: [f64; 4],
}

/// What a sensor reads.
#[derive(Clone, Copy, Debug)]
enum What {
    /// A coordinate of a hinge or slide, by address, or its velocity.
    Coordinate(usize),
    Velocity(usize),
    BallOrientation(usize),
    BallVelocity(usize),
    Position(Frame),
    Orientation(Frame),
    Axis(Frame, usize),
    LinearVelocity(Frame),
    AngularVelocity(Frame),
    /// In the frame's own axes.
    OwnLinearVelocity(Frame),
    OwnAngularVelocity(Frame),
    /// With that of free fall taken away, in the frame's own axes.
    OwnAcceleration(Frame),
    CenterOfMass(usize),
}

#[derive(Clone, Copy, Debug)]
struct Sensor {
    what: What,
    address: usize,
    size: usize,
    /// Bounds of its numbers.
    bounds: Option<[f64; 2]>,
}

/// All sensors of a model.
#[derive(Clone, Debug)]
pub(super) struct Sensors(Vec<Sensor>);

/// The state that sensors belong to: libmujoco's last evaluation, before it moves on.
pub(super) struct Evaluated<'a> {
    pub model: &'a Model,
    pub batch: &'a Batch,
    pub lane: usize,
    pub qpos: &'a [f64],
    pub qvel: &'a [f64],
}

impl Sensors {
    /// Those of a model, or the name of one that the engine cannot read.
    pub(super) fn new(model: &Model) -> Result<Self, LanesError> {
        if model.opt().integrator == 1 {
            let what = "a task that reads sensors of a model with the integrator RK4".to_string();
            return Err(LanesError::Unsupported { what });
        }
        (0..model.sensor_adr().len()).map(|s| sensor(model, s)).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn read(&self, state: &Evaluated<'_>, out: &mut [f64]) {
        for sensor in &self.0 {
            let own = &mut out[sensor.address..sensor.address + sensor.size];
            state.read(sensor.what, own);
            if let Some([low, high]) = sensor.bounds {
                own.iter_mut().for_each(|x| *x = x.clamp(low, high));
            }
        }
    }
}

fn sensor(model: &Model, s: usize) -> Result<Sensor, LanesError> {
    let unsupported = || {
        let name = named(model, Object::mjOBJ_SENSOR, "sensor", s);
        Err(LanesError::Unsupported { what: format!("the kind of {name}") })
    };
    let id = model.sensor_objid()[s] as usize;
    let plain = model.sensor_refid()[s] < 0
        && model.sensor_delay()[s] == 0.0
        && model.sensor_history()[s][0] == 0
        && model.sensor_interval()[s][0] == 0.0;
    if !plain {
        let name = named(model, Object::mjOBJ_SENSOR, "sensor", s);
        return Err(LanesError::Unsupported {
            what: format!("{name} relative to another frame, or with a delay"),
        });
    }
    let freedom = || model.jnt_dofadr()[id] as usize;
    let coordinate = || model.jnt_qposadr()[id] as usize;
    let site = || Frame {
        body: model.site_bodyid()[id] as usize,
        position: model.site_pos()[id],
        orientation: model.site_quat()[id],
    };
    let frame = frame_of(model, model.sensor_objtype()[s], id);
    let what = match (model.sensor_type()[s], frame) {
        (Kind::mjSENS_JOINTPOS, _) => What::Coordinate(coordinate()),
        (Kind::mjSENS_JOINTVEL, _) => What::Velocity(freedom()),
        (Kind::mjSENS_BALLQUAT, _) => What::BallOrientation(coordinate()),
        (Kind::mjSENS_BALLANGVEL, _) => What::BallVelocity(freedom()),
        (Kind::mjSENS_GYRO, _) => What::OwnAngularVelocity(site()),
        (Kind::mjSENS_VELOCIMETER, _) => What::OwnLinearVelocity(site()),
        (Kind::mjSENS_ACCELEROMETER, _) => What::OwnAcceleration(site()),
        (Kind::mjSENS_FRAMEPOS, Some(frame)) => What::Position(frame),
        (Kind::mjSENS_FRAMEQUAT, Some(frame)) => What::Orientation(frame),
        (Kind::mjSENS_FRAMEXAXIS, Some(frame)) => What::Axis(frame, 0),
        (Kind::mjSENS_FRAMEYAXIS, Some(frame)) => What::Axis(frame, 1),
        (Kind::mjSENS_FRAMEZAXIS, Some(frame)) => What::Axis(frame, 2),
        (Kind::mjSENS_FRAMELINVEL, Some(frame)) => What::LinearVelocity(frame),
        (Kind::mjSENS_FRAMEANGVEL, Some(frame)) => What::AngularVelocity(frame),
        (Kind::mjSENS_SUBTREECOM, _) => What::CenterOfMass(id),
        _ => return unsupported(),
    };
    let cutoff = model.sensor_cutoff()[s];
    let bounds = match model.sensor_datatype()[s] {
        MjtDataType::mjDATATYPE_REAL if cutoff > 0.0 => Some([-cutoff, cutoff]),
        MjtDataType::mjDATATYPE_POSITIVE if cutoff > 0.0 => Some([f64::NEG_INFINITY, cutoff]),
        _ => None,
    };
    let (address, size) = (model.sensor_adr()[s] as usize, model.sensor_dim()[s] as usize);
    Ok(Sensor { what, address, size, bounds })
}

fn frame_of(model: &Model, object: Object, id: usize) -> Option<Frame> {
    let unit = [1.0, 0.0, 0.0, 0.0];
    Some(match object {
        Object::mjOBJ_XBODY => Frame { body: id, position: [0.0; 3], orientation: unit },
        Object::mjOBJ_BODY => {
            Frame { body: id, position: model.body_ipos()[id], orientation: model.body_iquat()[id] }
        }
        Object::mjOBJ_SITE => Frame {
            body: model.site_bodyid()[id] as usize,
            position: model.site_pos()[id],
            orientation: model.site_quat()[id],
        },
        Object::mjOBJ_GEOM => Frame {
            body: model.geom_bodyid()[id] as usize,
            position: model.geom_pos()[id],
            orientation: model.geom_quat()[id],
        },
        _ => return None,
    })
}

impl Evaluated<'_> {
    fn read(&self, what: What, out: &mut [f64]) {
        let three = |out: &mut [f64], v: [f64; 3]| out.copy_from_slice(&v);
        match what {
            What::Coordinate(at) => out[0] = self.qpos[at],
            What::Velocity(at) => out[0] = self.qvel[at],
            What::BallOrientation(at) => out.copy_from_slice(&unit_quaternion(&self.qpos[at..at + 4])),
            What::BallVelocity(at) => out.copy_from_slice(&self.qvel[at..at + 3]),
            What::Position(frame) => three(out, self.point(&frame)),
            What::Orientation(frame) => {
                out.copy_from_slice(&product(self.orientation(frame.body), frame.orientation));
            }
            What::Axis(frame, k) => {
                let r = self.axes(&frame);
                three(out, [r[k], r[3 + k], r[6 + k]]);
            }
            What::LinearVelocity(frame) => three(out, self.velocity(&frame)[1]),
            What::AngularVelocity(frame) => three(out, self.velocity(&frame)[0]),
            What::OwnLinearVelocity(frame) => three(out, self.seen_from(&frame, self.velocity(&frame)[1])),
            What::OwnAngularVelocity(frame) => three(out, self.seen_from(&frame, self.velocity(&frame)[0])),
            What::OwnAcceleration(frame) => {
                let a = self.batch.body_acceleration(frame.body, self.point(&frame), self.lane);
                three(out, self.seen_from(&frame, a));
            }
            What::CenterOfMass(body) => three(out, self.center_of_mass(body)),
        }
    }

    fn point(&self, frame: &Frame) -> [f64; 3] {
        let (x, r) = self.batch.body_pose(frame.body, self.lane);
        let p = frame.position;
        std::array::from_fn(|i| x[i] + r[3 * i] * p[0] + r[3 * i + 1] * p[1] + r[3 * i + 2] * p[2])
    }

    fn axes(&self, frame: &Frame) -> [f64; 9] {
        let (_, r) = self.batch.body_pose(frame.body, self.lane);
        super::worlds::multiply(&r, &super::worlds::rotation(frame.orientation))
    }

    fn velocity(&self, frame: &Frame) -> [[f64; 3]; 2] {
        self.batch.body_velocity(frame.body, self.point(frame), self.lane)
    }

    fn seen_from(&self, frame: &Frame, v: [f64; 3]) -> [f64; 3] {
        let r = self.axes(frame);
        std::array::from_fn(|k| r[k] * v[0] + r[3 + k] * v[1] + r[6 + k] * v[2])
    }

    fn center_of_mass(&self, body: usize) -> [f64; 3] {
        let model = self.model;
        let (mut mass, mut sum) = (0.0, [0.0; 3]);
        for b in (body..model.body_mass().len()).filter(|&b| is_below(model, b, body)) {
            let own = Frame { body: b, position: model.body_ipos()[b], orientation: [1.0, 0.0, 0.0, 0.0] };
            let (at, m) = (self.point(&own), model.body_mass()[b]);
            mass += m;
            (0..3).for_each(|i| sum[i] += m * at[i]);
        }
        if mass > 0.0 { sum.map(|x| x / mass) } else { sum }
    }

    /// The orientation of a body with libmujoco's sign, which a rotation matrix does not have.
    fn orientation(&self, body: usize) -> [f64; 4] {
        if body == 0 {
            return [1.0, 0.0, 0.0, 0.0];
        }
        let model = self.model;
        let mut q = product(self.orientation(model.body_parentid()[body] as usize), model.body_quat()[body]);
        let joints = model.body_jntnum()[body] as usize;
        for j in (0..joints).map(|i| model.body_jntadr()[body] as usize + i) {
            let at = model.jnt_qposadr()[j] as usize;
            match model.jnt_type()[j] {
                MjtJoint::mjJNT_FREE => q = unit_quaternion(&self.qpos[at + 3..at + 7]),
                MjtJoint::mjJNT_BALL => q = product(q, unit_quaternion(&self.qpos[at..at + 4])),
                MjtJoint::mjJNT_SLIDE => {}
                MjtJoint::mjJNT_HINGE => {
                    let (sine, cosine) = (0.5 * (self.qpos[at] - model.qpos0()[at])).sin_cos();
                    let [x, y, z] = model.jnt_axis()[j].map(|a| a * sine);
                    q = product(q, [cosine, x, y, z]);
                }
            }
        }
        q
    }
}

/// Whether a body is another or hangs at it.
fn is_below(model: &Model, mut body: usize, top: usize) -> bool {
    while body > top {
        body = model.body_parentid()[body] as usize;
    }
    body == top
}

fn unit_quaternion(q: &[f64]) -> [f64; 4] {
    let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length < 1e-15 { [1.0, 0.0, 0.0, 0.0] } else { std::array::from_fn(|i| q[i] / length) }
}

fn product(p: [f64; 4], q: [f64; 4]) -> [f64; 4] {
    let ([a, b, c, d], [w, x, y, z]) = (p, q);
    [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]
}
