//! Random mechanisms within what the lanes engine supports: single steps against libmujoco.
#![cfg(feature = "mujoco")]

use autoqd_env::NumpyRng;
use autoqd_env::lanes::{SideBySide, stream};
use autoqd_lanes::{Backend, LANES};
use std::fmt::Write;

const LIMIT: f64 = 1e-8;
/// Some random mechanisms drive themselves apart; what is faster than this is no longer physics, and a step
/// magnifies rounding by orders of magnitude.
const FASTEST: f64 = 100.0;

/// Share of the models in which boxes touch everything.
const ALL_TOUCH: f64 = 0.4;

/// What models have beside trees, limits, sliding contacts and actuators on joints.
#[derive(Clone, Copy, Debug, Default)]
struct Extras {
    elliptic: bool,
    /// Torsional and rolling friction.
    twisting: bool,
    friction_loss: bool,
    tendons: bool,
    equalities: bool,
    activations: bool,
    gravity_compensation: bool,
    at_sites: bool,
}

impl Extras {
    /// Those of a seed: one in three models has none.
    fn of(seed: u64) -> Self {
        let mut rng = stream(seed + 7_000_000);
        let mut has = || rng.uniform(0.0, 1.0) < 0.4;
        if seed.is_multiple_of(3) {
            return Self::default();
        }
        Self {
            elliptic: has(),
            twisting: has(),
            friction_loss: has(),
            tendons: has(),
            equalities: has(),
            activations: has(),
            gravity_compensation: has(),
            at_sites: has(),
        }
    }
}

/// Writes MJCF with random trees, joints, geoms, actuators and parameters.
struct Generator {
    rng: NumpyRng,
    xml: String,
    bodies: usize,
    /// Names and kinds (`h`inge or `s`lide) of joints an actuator can move.
    scalar_joints: Vec<String>,
    /// Whether boxes touch everything and not only the plane.
    all_touch: bool,
    extras: Extras,
    /// Names of bodies; each has a site of the same name.
    named: Vec<String>,
}

impl Generator {
    fn new(seed: u64) -> Self {
        Self {
            rng: stream(seed),
            xml: String::new(),
            bodies: 0,
            scalar_joints: Vec::new(),
            all_touch: false,
            extras: Extras::of(seed),
            named: Vec::new(),
        }
    }

    fn number(&mut self, low: f64, high: f64) -> f64 {
        self.rng.uniform(low, high)
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.rng.uniform(0.0, 1.0) < probability
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[(self.rng.uniform(0.0, 1.0) * choices.len() as f64) as usize % choices.len()]
    }

    fn vector(&mut self, size: f64) -> String {
        let [x, y, z] = [0; 3].map(|_| self.number(-size, size));
        format!("{x} {y} {z}")
    }

    fn softness(&mut self) -> String {
        let mut out = String::new();
        if self.chance(0.3) {
            let (time, ratio) = (self.number(0.005, 0.05), self.number(0.5, 1.5));
            let _ = write!(out, " solref=\"{time} {ratio}\"");
        } else if self.chance(0.15) {
            let (stiffness, damping) = (self.number(500.0, 3000.0), self.number(20.0, 80.0));
            let _ = write!(out, " solref=\"-{stiffness} -{damping}\"");
        }
        if self.chance(0.4) {
            let (start, end) = (self.number(0.3, 0.9), self.number(0.9, 0.99));
            let (width, middle) = (self.number(0.001, 0.05), self.number(0.2, 0.8));
            let power = self.pick(&[1.0, 2.0, 2.0, 3.0, 2.5]);
            let _ = write!(out, " solimp=\"{start} {end} {width} {middle} {power}\"");
        }
        out
    }

    fn model(mut self) -> String {
        self.all_touch = self.chance(ALL_TOUCH);
        let timestep = self.pick(&[0.002, 0.005, 0.01]);
        let integrator = self.pick(&["Euler", "RK4", "implicitfast"]);
        let medium = match self.chance(0.2) && integrator != "implicitfast" {
            true => {
                format!("density=\"{}\" viscosity=\"{}\"", self.number(0.0, 1200.0), self.number(0.0, 0.2))
            }
            false => String::new(),
        };
        let impratio = self.pick(&[1.0, 1.0, 1.0, 3.0]);
        let limits = match self.chance(0.2) {
            true => {
                let (iterations, points) = (self.pick(&[1, 2, 5]), self.pick(&[2, 4, 6, 10]));
                format!("iterations=\"{iterations}\" ls_iterations=\"{points}\"")
            }
            false => String::new(),
        };
        let _ = write!(
            self.xml,
            "<mujoco><option timestep=\"{timestep}\" integrator=\"{integrator}\" {medium} \
             impratio=\"{impratio}\" {limits} cone=\"{}\">",
            if self.extras.elliptic { "elliptic" } else { "pyramidal" }
        );
        let island = if self.chance(0.5) { "disable" } else { "enable" };
        let constraint = if self.chance(0.05) { "disable" } else { "enable" };
        let _ =
            write!(self.xml, "<flag island=\"{island}\" constraint=\"{constraint}\"/></option><worldbody>");
        let tilt = if self.chance(0.3) { format!("euler=\"{}\"", self.vector(15.0)) } else { String::new() };
        let friction = self.number(0.1, 1.5);
        let softness = self.softness();
        let _ = write!(
            self.xml,
            "<geom type=\"plane\" size=\"9 9 1\" {tilt} contype=\"0\" conaffinity=\"1\" \
             friction=\"{friction} 0.01 0.001\" condim=\"3\" {softness}/>"
        );
        let trees = self.pick(&[1, 1, 2, 3]);
        self.xml.push_str("<site name=\"s_world\" pos=\"0.1 0.2 0.9\"/>");
        for tree in 0..trees {
            let height = self.number(0.1, 0.6);
            self.tree(height, tree as f64 * 0.4);
        }
        self.xml.push_str("</worldbody>");
        let tendons = self.tendons();
        self.equalities(&tendons);
        self.xml.push_str("<actuator>");
        for joint in std::mem::take(&mut self.scalar_joints) {
            self.actuator(&format!("joint=\"{joint}\""));
        }
        for tendon in &tendons {
            if self.chance(0.5) {
                self.actuator(&format!("tendon=\"{tendon}\""));
            }
        }
        if self.extras.at_sites {
            for site in self.some_of(&self.named.clone()) {
                let gear = [self.vector(2.0), self.vector(0.5)].join(" ");
                let kind = self.pick(&["motor", "velocity kv=\"0.3\"", "position kp=\"3\" kv=\"0.2\""]);
                let _ = write!(self.xml, "<{kind} site=\"s_{site}\" gear=\"{gear}\"/>");
            }
        }
        self.xml.push_str("</actuator></mujoco>");
        self.xml
    }

    fn tree(&mut self, height: f64, x: f64) {
        let extra = self.body_extras();
        let _ = write!(self.xml, "<body pos=\"{x} 0 {height}\" {extra}>");
        match self.pick(&["free", "planar", "hinge", "ball", "slides"]) {
            "free" => self.xml.push_str("<joint type=\"free\"/>"),
            "planar" => {
                self.joint("slide", "1 0 0");
                self.joint("slide", "0 0 1");
                self.joint("hinge", "0 1 0");
            }
            "slides" => {
                self.joint("slide", "0 0 1");
                self.joint("slide", "1 0 0");
            }
            "ball" => self.joint("ball", "0 0 1"),
            _ => self.joint("hinge", "0 1 0"),
        }
        self.geoms();
        let children = self.pick(&[1, 2, 2, 3]);
        for _ in 0..children {
            self.limb(2);
        }
        self.xml.push_str("</body>");
    }

    fn limb(&mut self, depth: usize) {
        let (position, orientation) = (self.vector(0.25), self.vector(60.0));
        let turned = if self.chance(0.5) { format!("euler=\"{orientation}\"") } else { String::new() };
        let extra = self.body_extras();
        let _ = write!(self.xml, "<body pos=\"{position}\" {turned} {extra}>");
        match self.pick(&["hinge", "hinge", "hinge", "slide", "ball", "two", "none"]) {
            "hinge" => {
                let axis = self.axis();
                self.joint("hinge", &axis);
            }
            "slide" => {
                let axis = self.axis();
                self.joint("slide", &axis);
            }
            "ball" => self.joint("ball", "0 0 1"),
            "two" => {
                // Across each other: about one axis they would make the inertia matrix singular.
                let first = self.pick(&["1 0 0", "0 1 0", "0.6 0.8 0"]);
                self.joint("hinge", first);
                let second = self.pick(&["0 0 1", "0.1 0.2 -0.9"]);
                self.joint("hinge", second);
            }
            _ => {}
        }
        self.geoms();
        if depth > 0 && self.chance(0.5) {
            self.limb(depth - 1);
        }
        self.xml.push_str("</body>");
    }

    /// A name, and perhaps less weight.
    fn body_extras(&mut self) -> String {
        let name = format!("b{}", self.named.len());
        self.named.push(name.clone());
        if self.extras.gravity_compensation && self.chance(0.5) {
            return format!("name=\"{name}\" gravcomp=\"{}\"", self.number(0.2, 1.2));
        }
        format!("name=\"{name}\"")
    }

    fn friction_loss(&mut self) -> String {
        if !self.extras.friction_loss || !self.chance(0.5) {
            return String::new();
        }
        let softness =
            self.softness().replace("solref", "solreffriction").replace("solimp", "solimpfriction");
        format!("frictionloss=\"{}\" {softness}", self.number(0.01, 1.0))
    }

    /// Writes tendons and returns their names.
    fn tendons(&mut self) -> Vec<String> {
        let Some(joint) = self.scalar_joints.first().cloned() else { return Vec::new() };
        // It only measures.
        let _ = write!(self.xml, "<tendon><fixed><joint joint=\"{joint}\" coef=\"2\"/></fixed>");
        let mut names = Vec::new();
        if self.extras.tendons {
            for t in 0..self.pick(&[1, 2, 3]) {
                let name = format!("t{t}");
                let behaviour = self.tendon_behaviour();
                if self.chance(0.5) {
                    let _ = write!(self.xml, "<fixed name=\"{name}\" {behaviour}>");
                    for joint in self.some_of(&self.scalar_joints.clone()) {
                        let factor = self.number(-1.5, 1.5);
                        let _ = write!(self.xml, "<joint joint=\"{joint}\" coef=\"{factor}\"/>");
                    }
                    self.xml.push_str("</fixed>");
                } else {
                    let mut through = self.some_of(&self.named.clone());
                    through.push("world".to_string());
                    let _ = write!(self.xml, "<spatial name=\"{name}\" {behaviour}>");
                    for (i, site) in through.iter().enumerate() {
                        let _ = write!(self.xml, "<site site=\"s_{site}\"/>");
                        if i == 1 && through.len() > 3 {
                            let _ = write!(self.xml, "<pulley divisor=\"2\"/><site site=\"s_{site}\"/>");
                        }
                    }
                    self.xml.push_str("</spatial>");
                }
                names.push(name);
            }
        }
        self.xml.push_str("</tendon>");
        names
    }

    fn tendon_behaviour(&mut self) -> String {
        let mut out = String::new();
        if self.chance(0.5) {
            let (stiffness, damping) = (self.number(0.0, 20.0), self.number(0.0, 2.0));
            let _ = write!(out, " stiffness=\"{stiffness}\" damping=\"{damping}\"");
            if self.chance(0.5) {
                let low = self.number(-0.2, 0.2);
                let _ = write!(out, " springlength=\"{} {}\"", low.max(0.0), low.max(0.0) + 0.1);
            }
        }
        if self.chance(0.4) {
            let (low, high) = (self.number(-0.5, 0.3), self.number(0.4, 1.5));
            let margin = if self.chance(0.3) { 0.02 } else { 0.0 };
            let softness = self.softness().replace("solref", "solreflimit").replace("solimp", "solimplimit");
            let _ = write!(out, " limited=\"true\" range=\"{low} {high}\" margin=\"{margin}\" {softness}");
        }
        out.push(' ');
        out + &self.friction_loss()
    }

    /// Two or more of the names, in their order.
    fn some_of(&mut self, names: &[String]) -> Vec<String> {
        let mut chosen: Vec<_> = names.iter().filter(|_| self.chance(0.4)).cloned().collect();
        chosen.truncate(5);
        if chosen.is_empty() {
            chosen.push(names[0].clone());
        }
        chosen
    }

    fn equalities(&mut self, tendons: &[String]) {
        if !self.extras.equalities {
            return;
        }
        self.xml.push_str("<equality>");
        for _ in 0..self.pick(&[1, 2, 3]) {
            let softness = self.softness();
            let joints = self.scalar_joints.clone();
            let (first, second) = (self.pick(&[0, 1, 2, 3]), self.pick(&[1, 2, 3, 4]));
            let of = |names: &[String], i: usize| names[i % names.len()].clone();
            let bodies = [of(&self.named, first), of(&self.named, second)];
            let polynomial = [(); 5].map(|()| self.number(-0.3, 0.3).to_string()).join(" ");
            let apart = bodies[0] != bodies[1];
            let _ = match self.pick(&["joint", "joints", "tendon", "tendons", "connect", "weld", "sites"]) {
                "joint" if !joints.is_empty() => {
                    write!(self.xml, "<joint joint1=\"{}\" {softness}/>", of(&joints, first))
                }
                "joints" if joints.len() > 1 => write!(
                    self.xml,
                    "<joint joint1=\"{}\" joint2=\"{}\" polycoef=\"{polynomial}\" {softness}/>",
                    of(&joints, first),
                    of(&joints, first + 1)
                ),
                "tendon" if !tendons.is_empty() => {
                    write!(self.xml, "<tendon tendon1=\"{}\" {softness}/>", of(tendons, first))
                }
                "tendons" if tendons.len() > 1 => write!(
                    self.xml,
                    "<tendon tendon1=\"{}\" tendon2=\"{}\" polycoef=\"{polynomial}\" {softness}/>",
                    of(tendons, first),
                    of(tendons, first + 1)
                ),
                "connect" if apart => {
                    let anchor = self.vector(0.2);
                    write!(
                        self.xml,
                        "<connect body1=\"{}\" body2=\"{}\" anchor=\"{anchor}\" {softness}/>",
                        bodies[0], bodies[1]
                    )
                }
                "weld" if apart => {
                    let scale = self.number(0.1, 2.0);
                    write!(
                        self.xml,
                        "<weld body1=\"{}\" body2=\"{}\" torquescale=\"{scale}\" {softness}/>",
                        bodies[0], bodies[1]
                    )
                }
                _ if apart => {
                    let kind = self.pick(&["connect", "weld"]);
                    write!(
                        self.xml,
                        "<{kind} site1=\"s_{}\" site2=\"s_{}\" {softness}/>",
                        bodies[0], bodies[1]
                    )
                }
                _ => Ok(()),
            };
        }
        self.xml.push_str("</equality>");
    }

    fn axis(&mut self) -> String {
        match self.chance(0.5) {
            true => self.pick(&["1 0 0", "0 1 0", "0 0 1", "0 -1 0"]).to_string(),
            false => self.vector(1.0),
        }
    }

    fn joint(&mut self, kind: &str, axis: &str) {
        let id = self.bodies;
        self.bodies += 1;
        let armature = if self.chance(0.5) { self.number(0.0, 0.1) } else { 0.0 };
        let damping = if self.chance(0.6) { self.number(0.0, 2.0) } else { 0.0 };
        let stiffness = if self.chance(0.3) { self.number(0.0, 20.0) } else { 0.0 };
        let position = if self.chance(0.4) { self.vector(0.1) } else { "0 0 0".to_string() };
        let friction_loss = self.friction_loss();
        let _ = write!(
            self.xml,
            "<joint name=\"j{id}\" type=\"{kind}\" axis=\"{axis}\" pos=\"{position}\" armature=\"{armature}\" \
             damping=\"{damping}\" stiffness=\"{stiffness}\" {friction_loss}"
        );
        if kind != "ball" {
            self.scalar_joints.push(format!("j{id}"));
            if self.chance(0.3) {
                let _ = write!(self.xml, " springref=\"{}\"", self.rng.uniform(-0.3, 0.3));
            }
            if self.chance(0.15) {
                self.xml.push_str(" actuatorfrcrange=\"-3 3\"");
            }
        }
        if self.chance(0.5) {
            let scale = if kind == "slide" { 0.2 } else { 30.0 };
            let (low, high) = (self.number(-1.0, -0.2) * scale, self.number(0.2, 1.0) * scale);
            let margin = if self.chance(0.3) { 0.02 } else { 0.0 };
            let range = if kind == "ball" { format!("0 {high}") } else { format!("{low} {high}") };
            let softness = self.softness().replace("solref", "solreflimit").replace("solimp", "solimplimit");
            let _ = write!(self.xml, " limited=\"true\" range=\"{range}\" margin=\"{margin}\" {softness}");
        }
        self.xml.push_str("/>");
    }

    fn geoms(&mut self) {
        if let Some(body) = self.named.last().cloned() {
            let (position, turn) = (self.vector(0.2), self.vector(90.0));
            let _ = write!(self.xml, "<site name=\"s_{body}\" pos=\"{position}\" euler=\"{turn}\"/>");
        }
        for _ in 0..self.pick(&[1, 1, 2]) {
            let shape = match self.all_touch {
                true => self.pick(&["sphere", "capsule", "box"]),
                false => self.pick(&["sphere", "capsule", "capsule", "box", "cylinder"]),
            };
            let size = match shape {
                "sphere" => format!("{}", self.number(0.05, 0.12)),
                "box" => format!(
                    "{} {} {}",
                    self.number(0.04, 0.12),
                    self.number(0.04, 0.12),
                    self.number(0.04, 0.12)
                ),
                _ => format!("{} {}", self.number(0.03, 0.08), self.number(0.05, 0.2)),
            };
            // The round ones touch each other, boxes and cylinders in some models only the plane.
            let masks = match shape {
                "box" | "cylinder" if !self.all_touch => "contype=\"1\" conaffinity=\"0\"",
                _ => "contype=\"3\" conaffinity=\"2\"",
            };
            let (position, orientation) = (self.vector(0.1), self.vector(90.0));
            let condim = match self.extras.twisting {
                true => self.pick(&[1, 3, 4, 6]),
                false => self.pick(&[1, 3, 3]),
            };
            let friction = self.number(0.1, 1.2);
            let margin = if self.chance(0.3) { self.number(0.0, 0.02) } else { 0.0 };
            let softness = self.softness();
            let priority = if self.chance(0.1) { "priority=\"1\"" } else { "" };
            let _ = write!(
                self.xml,
                "<geom {priority} type=\"{shape}\" size=\"{size}\" pos=\"{position}\" euler=\"{orientation}\" {masks} \
                 condim=\"{condim}\" friction=\"{friction} {} {}\" margin=\"{margin}\" {softness}/>",
                if self.extras.twisting { 0.1 } else { 0.01 },
                if self.extras.twisting { 0.05 } else { 0.001 },
            );
        }
    }

    fn actuator(&mut self, at: &str) {
        let gear = self.number(-5.0, 5.0);
        let force = if self.chance(0.3) { "forcerange=\"-2 2\"" } else { "" };
        let control = if self.chance(0.6) { "ctrlrange=\"-0.7 0.7\"" } else { "" };
        if self.extras.activations && self.chance(0.6) {
            let kind = self.pick(&["integrator", "filter", "filterexact"]);
            let time = self.number(0.01, 0.3);
            let limited = if self.chance(0.4) { "actlimited=\"true\" actrange=\"-0.4 0.4\"" } else { "" };
            let early = if self.chance(0.4) { "true" } else { "false" };
            let (gain, bias) = (self.number(-2.0, 2.0), self.vector(1.0));
            let _ = write!(
                self.xml,
                "<general {at} dyntype=\"{kind}\" dynprm=\"{time}\" {limited} actearly=\"{early}\" gear=\"{gear}\" \
                 gaintype=\"fixed\" gainprm=\"{gain}\" biastype=\"affine\" biasprm=\"{bias}\" {force} {control}/>"
            );
            return;
        }
        let _ = match self.pick(&["motor", "motor", "position", "velocity"]) {
            "position" => {
                let (kp, kv) = (self.number(1.0, 20.0), self.number(0.0, 2.0));
                write!(self.xml, "<position {at} kp=\"{kp}\" kv=\"{kv}\" gear=\"{gear}\" {force} {control}/>")
            }
            "velocity" => {
                let kv = self.number(0.1, 3.0);
                write!(self.xml, "<velocity {at} kv=\"{kv}\" gear=\"{gear}\" {force} {control}/>")
            }
            _ => write!(self.xml, "<motor {at} gear=\"{gear}\" {force} {control}/>"),
        };
    }
}

/// The worst step of a model.
#[derive(Default)]
struct Worst {
    deviation: f64,
    explanation: String,
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, v| f64::max(m, v.abs()))
}

/// The worst of 40 steps in 8 worlds, with the number of contacts seen.
fn check(seed: u64) -> Option<(Worst, usize)> {
    check_model(seed, &Generator::new(seed).model())
}

fn check_model(seed: u64, xml: &str) -> Option<(Worst, usize)> {
    let backend = Backend::best().expect("a CPU with fused multiply-add");
    let mut pair = match SideBySide::from_mjcf(xml, backend) {
        Ok(pair) => pair,
        // A model without anything that drives or moves.
        Err(error) if error.to_string().contains("no actuators") => return None,
        Err(error) => panic!("model {seed}: {error}\n{xml}"),
    };
    let mut rng = stream(seed + 1_000_000);
    (0..LANES).for_each(|lane| pair.reset(lane, 0.2, &mut rng));
    let (mut worst, mut contacts) = (Worst::default(), 0);
    for _ in 0..40 {
        pair.random_controls(1.0, &mut rng);
        let mut before = [0.0; LANES];
        for (lane, speed) in before.iter_mut().enumerate() {
            *speed = largest(pair.worlds[lane].qvel());
            if *speed > FASTEST {
                pair.reset(lane, 0.2, &mut rng);
            }
        }
        for (lane, deviation) in pair.step().iter().enumerate() {
            let [theirs, ours] = pair.gave_up(lane);
            if theirs || ours {
                assert!(ours, "model {seed}: libmujoco gave up, the engine did not");
                pair.reset(lane, 0.2, &mut rng);
                continue;
            }
            let world = &pair.worlds[lane];
            contacts += world.contact().len();
            let after = largest(world.qvel());
            if deviation.state > worst.deviation && after <= FASTEST {
                let (mut own, theirs) = (0, world.contact().len());
                pair.batch().contact_pairs(lane, |_| own += 1);
                let (before, iterations) = (before[lane], world.solver_niter()[0]);
                worst = Worst {
                    deviation: deviation.state,
                    explanation: format!(
                        "speed {before} to {after}, contacts {own} and {theirs}, {iterations} iterations"
                    ),
                };
            }
        }
    }
    Some((worst, contacts))
}

/// Whether the model of a seed has what rounding decides about once in a while: boxes that touch more than the plane, where
/// libmujoco chooses between faces, and a solver that is cut off before its end.
fn rounding_decides(seed: u64) -> bool {
    let model = Generator::new(seed).model();
    model.contains("ls_iterations")
        || model.contains("type=\"box\"") && {
            let mut generator = Generator::new(seed);
            generator.chance(ALL_TOUCH)
        }
}

fn check_models(seeds: std::ops::Range<u64>) {
    let (mut failures, mut decided) = (Vec::new(), Vec::new());
    let (mut models, mut touching, mut seed) = (0, 0, seeds.start);
    let wanted = (seeds.end - seeds.start) as usize;
    let mut all = Vec::new();
    while models < wanted {
        if let Some((worst, contacts)) = check(seed) {
            models += 1;
            touching += usize::from(contacts > 0);
            all.push(worst.deviation);
            if worst.deviation > LIMIT {
                let failure = format!("model {seed}: {:e}, {}", worst.deviation, worst.explanation);
                let list = if rounding_decides(seed) { &mut decided } else { &mut failures };
                list.push(failure);
            }
        }
        seed += 1;
    }
    all.sort_by(f64::total_cmp);
    println!(
        "{models} models, {touching} with contacts; median {:e}, worst {:e}",
        all[models / 2],
        all[models - 1]
    );
    println!("beyond {LIMIT:e} where rounding decides: {decided:#?}");
    assert!(touching * 2 > models, "most models must touch something, or the test says little");
    assert!(failures.is_empty(), "beyond {LIMIT:e}: {failures:#?}");
    assert!(decided.len() * 100 <= models, "beyond {LIMIT:e}: {decided:#?}");
}

#[test]
fn thirty_random_models_agree_with_libmujoco() {
    check_models(0..30);
}

#[test]
#[ignore = "300 models take half a minute"]
fn three_hundred_random_models_agree_with_libmujoco() {
    check_models(1000..1300);
}

#[test]
#[ignore = "a tool: prints the model of SEED, or takes that of the file MODEL, and its deviations"]
fn explain_one_model() {
    let seed: u64 = std::env::var("SEED").expect("SEED").parse().expect("a number");
    let xml = match std::env::var("MODEL") {
        Ok(path) => std::fs::read_to_string(path).expect("a model"),
        Err(_) => Generator::new(seed).model(),
    };
    println!("{xml}");
    let found = check_model(seed, &xml);
    println!("{:?}", found.map(|(worst, contacts)| (worst.deviation, worst.explanation, contacts)));
}
