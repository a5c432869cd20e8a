//! The digest of a compiled model.

use super::Model;
use std::fmt::Write;

/// Text that goes into a digest. Debug output of a number has all its digits.
struct Words(blake3::Hasher);

impl Write for Words {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

macro_rules! write_all {
    ($words:ident, $model:ident, $($field:ident)*) => {
        // Writing to a digest cannot fail.
        $(let _ = write!($words, "{}{:?}", stringify!($field), $model.$field());)*
    };
}

/// Digest of what a simulation depends on. Not of the saved model as it is: that holds the paths of its files, and the
/// same model elsewhere is the same model.
pub(crate) fn digest(model: &Model) -> blake3::Hash {
    let mut words = Words(blake3::Hasher::new());
    write_all! { words, model,
        opt nq nv nu na
        qpos0 qpos_spring key_qpos key_qvel key_act key_ctrl
        body_parentid body_pos body_quat body_ipos body_iquat body_mass body_inertia body_invweight0 body_gravcomp
        jnt_type jnt_bodyid jnt_limited jnt_solref jnt_solimp jnt_pos jnt_axis jnt_stiffness jnt_range jnt_margin
        jnt_actfrclimited jnt_actfrcrange
        dof_solref dof_solimp dof_frictionloss dof_armature dof_damping dof_invweight0
        geom_type geom_contype geom_conaffinity geom_condim geom_bodyid geom_dataid geom_priority geom_solmix
        geom_solref geom_solimp geom_size geom_pos geom_quat geom_friction geom_margin geom_gap geom_fluid
        site_bodyid site_size site_pos site_quat
        mesh_vert mesh_face hfield_size hfield_data
        pair_geom1 pair_geom2 pair_solref pair_solimp pair_margin pair_gap pair_friction exclude_signature
        eq_type eq_obj1id eq_obj2id eq_active0 eq_solref eq_solimp eq_data
        tendon_limited tendon_solref_lim tendon_solimp_lim tendon_range tendon_stiffness tendon_damping
        tendon_frictionloss tendon_lengthspring wrap_type wrap_objid wrap_prm
        actuator_trntype actuator_trnid actuator_dyntype actuator_gaintype actuator_biastype actuator_ctrllimited
        actuator_forcelimited actuator_dynprm actuator_gainprm actuator_biasprm actuator_ctrlrange
        actuator_forcerange actuator_gear
        sensor_type sensor_objid sensor_refid sensor_cutoff
    }
    words.0.finalize()
}
