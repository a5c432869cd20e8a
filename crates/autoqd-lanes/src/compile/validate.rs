//! A model is checked once, so that the engine does not have to.

use crate::LanesError;
use crate::model::{Coupling, JointKind, Model, Path, Transmission, Waypoint};

/// Degrees of freedom fit the bits of a word.
const MOST_FREEDOMS: usize = 64;

fn invalid<T>(what: String) -> Result<T, LanesError> {
    Err(LanesError::Invalid { what })
}

pub(super) fn validate(model: &Model) -> Result<(), LanesError> {
    let options = &model.options;
    if !(options.timestep > 0.0 && options.timestep.is_finite()) {
        return invalid(format!("a timestep of {}", options.timestep));
    }
    if !(options.impedance_ratio > 0.0) {
        return invalid(format!("an impratio of {}", options.impedance_ratio));
    }
    bodies(model)?;
    joints(model)?;
    contacts(model)?;
    tendons(model)?;
    equalities(model)?;
    for (i, actuator) in model.actuators.iter().enumerate() {
        match actuator.transmission {
            Transmission::Joint(j) if !is_scalar(model, j) => {
                return invalid(format!("actuator {i} does not act on a hinge or a slide"));
            }
            Transmission::Tendon(t) if t >= model.tendons.len() => {
                return invalid(format!("actuator {i} acts on tendon {t}"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a joint exists and is a hinge or a slide.
fn is_scalar(model: &Model, joint: usize) -> bool {
    let kind = model.joints.get(joint).map(|j| j.kind);
    matches!(kind, Some(JointKind::Hinge | JointKind::Slide))
}

fn tendons(model: &Model) -> Result<(), LanesError> {
    for (i, tendon) in model.tendons.iter().enumerate() {
        let known = match &tendon.path {
            Path::Fixed(terms) => terms.iter().all(|&(joint, _)| is_scalar(model, joint)),
            Path::Spatial(waypoints) => waypoints.iter().all(|w| match w {
                Waypoint::Point { body, .. } => *body < model.bodies.len(),
                Waypoint::Pulley(divisor) => *divisor > 0.0,
            }),
            Path::Wrench { body, .. } => *body < model.bodies.len(),
        };
        if !known {
            return invalid(format!("the path of tendon {i}"));
        }
    }
    Ok(())
}

fn equalities(model: &Model) -> Result<(), LanesError> {
    for (i, equality) in model.equalities.iter().enumerate() {
        let known = match equality.coupling {
            Coupling::Joints { first, second, .. } => {
                is_scalar(model, first) && second.is_none_or(|j| is_scalar(model, j))
            }
            Coupling::Tendons { first, second, .. } => {
                first < model.tendons.len() && second.is_none_or(|t| t < model.tendons.len())
            }
            Coupling::Points { bodies, .. } | Coupling::Frames { bodies, .. } => {
                bodies.iter().all(|&b| b < model.bodies.len())
            }
        };
        if !known {
            return invalid(format!("equality constraint {i}"));
        }
    }
    Ok(())
}

fn bodies(model: &Model) -> Result<(), LanesError> {
    if model.bodies.is_empty() {
        return invalid("no bodies, not even the world".into());
    }
    for (i, body) in model.bodies.iter().enumerate().skip(1) {
        if body.parent >= i {
            return invalid(format!("body {i} comes before its parent {}", body.parent));
        }
        let numbers = body.position.iter().chain(&body.orientation).chain(&body.center).chain(&body.inertia);
        if !numbers.chain([&body.mass, &body.inverse_weight]).all(|x| x.is_finite()) {
            return invalid(format!("body {i} has a number that is not finite"));
        }
    }
    Ok(())
}

fn joints(model: &Model) -> Result<(), LanesError> {
    let freedoms: usize = model.joints.iter().map(|j| j.kind.freedoms()).sum();
    if freedoms != model.freedoms.len() {
        return invalid(format!(
            "joints have {freedoms} degrees of freedom, {} listed",
            model.freedoms.len()
        ));
    }
    if freedoms == 0 {
        return invalid("nothing can move".into());
    }
    if freedoms > MOST_FREEDOMS {
        return Err(LanesError::Unsupported {
            what: format!("a model of {freedoms} degrees of freedom (more than {MOST_FREEDOMS})"),
        });
    }
    for (i, joint) in model.joints.iter().enumerate() {
        if joint.body == 0 || joint.body >= model.bodies.len() {
            return invalid(format!("joint {i} moves body {}", joint.body));
        }
        if i > 0 && joint.body < model.joints[i - 1].body {
            return invalid(format!("joint {i} is not in the order of the bodies"));
        }
        if joint.spring_reference.len() != joint.kind.coordinates() {
            return invalid(format!("joint {i} has {} spring coordinates", joint.spring_reference.len()));
        }
        let alone = model.joints.iter().filter(|j| j.body == joint.body).count() == 1;
        if joint.kind == JointKind::Free && !(alone && model.bodies[joint.body].parent == 0) {
            return invalid(format!("the free joint {i} is not alone on a child of the world"));
        }
    }
    Ok(())
}

fn contacts(model: &Model) -> Result<(), LanesError> {
    for geom in &model.geoms {
        if geom.body >= model.bodies.len() {
            return invalid(format!("geom '{}' belongs to body {}", geom.name, geom.body));
        }
    }
    for pair in &model.pairs {
        if pair.geoms.iter().any(|&g| g >= model.geoms.len()) {
            return invalid(format!("a contact pair of geoms {:?}", pair.geoms));
        }
        let names = pair.geoms.map(|g| &model.geoms[g].name);
        if !matches!(pair.dimension, 1 | 3 | 4 | 6) {
            return Err(LanesError::Unsupported {
                what: format!("condim {} between '{}' and '{}'", pair.dimension, names[0], names[1]),
            });
        }
    }
    Ok(())
}
