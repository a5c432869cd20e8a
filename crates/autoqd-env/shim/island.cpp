#include "island.h"

#include <Box2D/Box2D.h>
#include <Box2D/Dynamics/Contacts/b2ContactSolver.h>
#include <Box2D/Dynamics/b2Island.h>

#include <algorithm>

namespace {

// Box2D takes the joints in this order, because it walks from the body made last along the joints. The solver outside
// relies on it.
constexpr int JOINT_ORDER[4] = {3, 2, 0, 1};

void put(float* to, const b2Vec2& from) {
    to[0] = from.x;
    to[1] = from.y;
}

void put(float* to, const b2Vec3& from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

// A pointer to a protected member may be taken in a derived class and used on the base.
struct Joint : b2RevoluteJoint {
    static bool copy_out(const b2RevoluteJoint& joint, float time_step, WalkerJoint& to) {
        const auto get = [&](auto member) -> const auto& { return joint.*member; };
        to.inverse_mass[0] = get(&Joint::m_invMassA);
        to.inverse_mass[1] = get(&Joint::m_invMassB);
        to.inverse_inertia[0] = get(&Joint::m_invIA);
        to.inverse_inertia[1] = get(&Joint::m_invIB);
        put(to.arm[0], get(&Joint::m_rA));
        put(to.arm[1], get(&Joint::m_rB));
        const b2Mat33& mass = get(&Joint::m_mass);
        put(to.mass[0], mass.ex);
        put(to.mass[1], mass.ey);
        put(to.mass[2], mass.ez);
        to.motor_mass = get(&Joint::m_motorMass);
        to.motor_speed = get(&Joint::m_motorSpeed);
        to.motor_limit = time_step * get(&Joint::m_maxMotorTorque);
        put(to.impulse, get(&Joint::m_impulse));
        to.motor_impulse = get(&Joint::m_motorImpulse);
        const b2LimitState limit = get(&Joint::m_limitState);
        to.limit = limit == e_atLowerLimit ? -1.0f : limit == e_atUpperLimit ? 1.0f : 0.0f;
        const bool turns = to.inverse_inertia[0] + to.inverse_inertia[1] != 0.0f;
        return turns && limit != e_equalLimits && get(&Joint::m_enableMotor) && get(&Joint::m_enableLimit);
    }

    static void describe(const b2RevoluteJoint& joint, int k, WalkerDescription& to) {
        const auto get = [&](auto member) -> const auto& { return joint.*member; };
        WalkerHingeDescription& hinge = to.hinges[k];
        put(hinge.arms[0], get(&Joint::m_localAnchorA) - get(&Joint::m_localCenterA));
        put(hinge.arms[1], get(&Joint::m_localAnchorB) - get(&Joint::m_localCenterB));
        hinge.reference = get(&Joint::m_referenceAngle);
        hinge.limits[0] = get(&Joint::m_lowerAngle);
        hinge.limits[1] = get(&Joint::m_upperAngle);
        WalkerBodyDescription& parent = to.bodies[k % 2 == 0 ? 0 : k];
        WalkerBodyDescription& leg = to.bodies[k + 1];
        parent.inverse_mass = get(&Joint::m_invMassA);
        parent.inverse_inertia = get(&Joint::m_invIA);
        leg.inverse_mass = get(&Joint::m_invMassB);
        leg.inverse_inertia = get(&Joint::m_invIB);
    }

    static void copy_back(const WalkerJoint& from, b2RevoluteJoint& joint) {
        (joint.*&Joint::m_impulse).Set(from.impulse[0], from.impulse[1], from.impulse[2]);
        joint.*&Joint::m_motorImpulse = from.motor_impulse;
    }
};

int number(const Robot& robot, const b2Body* body) {
    return static_cast<int>(std::find(robot.bodies, robot.bodies + 5, body) - robot.bodies);
}

void copy_point(const b2VelocityConstraintPoint& from, WalkerContactPoint& to) {
    put(to.ground_arm, from.rA);
    put(to.arm, from.rB);
    to.normal_impulse = from.normalImpulse;
    to.tangent_impulse = from.tangentImpulse;
    to.normal_mass = from.normalMass;
    to.tangent_mass = from.tangentMass;
    to.velocity_bias = from.velocityBias;
}

void copy_contact(const b2ContactVelocityConstraint& from, WalkerContact& to) {
    for (int j = 0; j < from.pointCount; ++j) copy_point(from.points[j], to.points[j]);
    put(to.normal, from.normal);
    put(to.normal_mass[0], from.normalMass.ex);
    put(to.normal_mass[1], from.normalMass.ey);
    put(to.k[0], from.K.ex);
    put(to.k[1], from.K.ey);
    to.inverse_mass = from.invMassB;
    to.inverse_inertia = from.invIB;
    to.friction = from.friction;
    to.point_count = static_cast<float>(from.pointCount);
}

// Whether body A is ground that no impulse moves.
bool on_ground(const b2Island& island, const b2ContactVelocityConstraint& contact) {
    const b2Velocity& ground = island.m_velocities[contact.indexA];
    return contact.invMassA == 0.0f && contact.invIA == 0.0f && ground.v.x == 0.0f && ground.v.y == 0.0f &&
           ground.w == 0.0f && contact.tangentSpeed == 0.0f;
}

bool copy_contacts(const Robot& robot, const b2Island& island, const b2ContactSolver& contacts, WalkerIsland& to) {
    std::fill(to.contact_count, to.contact_count + 5, 0u);
    for (int i = 0; i < contacts.m_count; ++i) {
        const b2ContactVelocityConstraint& contact = contacts.m_velocityConstraints[i];
        const int body = number(robot, island.m_bodies[contact.indexB]);
        if (body == 5 || to.contact_count[body] == WALKER_BODY_CONTACTS || !on_ground(island, contact)) return false;
        copy_contact(contact, to.contacts[body][to.contact_count[body]++]);
    }
    return true;
}

}  // namespace

bool copy_out(const Robot& robot, const b2Island& island, const b2ContactSolver& contacts, WalkerIsland& to) {
    if (island.m_jointCount != 4 || contacts.m_step.velocityIterations != WALKER_VELOCITY_ITERATIONS) return false;
    for (int i = 0; i < 4; ++i) {
        const int k = JOINT_ORDER[i];
        if (island.m_joints[i] != robot.joints[k]) return false;
        if (!Joint::copy_out(*robot.joints[k], contacts.m_step.dt, to.joints[k])) return false;
    }
    for (int i = 0; i < island.m_bodyCount; ++i) {
        const int body = number(robot, island.m_bodies[i]);
        if (body == 5) continue;
        put(to.velocity[body], island.m_velocities[i].v);
        to.velocity[body][2] = island.m_velocities[i].w;
    }
    return copy_contacts(robot, island, contacts, to);
}

void copy_back(const Robot& robot, const WalkerIsland& from, b2Island& island, b2ContactSolver& contacts) {
    for (int k = 0; k < 4; ++k) Joint::copy_back(from.joints[k], *robot.joints[k]);
    for (int i = 0; i < island.m_bodyCount; ++i) {
        const int body = number(robot, island.m_bodies[i]);
        if (body == 5) continue;
        island.m_velocities[i].v.Set(from.velocity[body][0], from.velocity[body][1]);
        island.m_velocities[i].w = from.velocity[body][2];
    }
    int seen[5] = {};
    for (int i = 0; i < contacts.m_count; ++i) {
        b2ContactVelocityConstraint& contact = contacts.m_velocityConstraints[i];
        const int body = number(robot, island.m_bodies[contact.indexB]);
        const WalkerContact& solved = from.contacts[body][seen[body]++];
        for (int j = 0; j < contact.pointCount; ++j) {
            contact.points[j].normalImpulse = solved.points[j].normal_impulse;
            contact.points[j].tangentImpulse = solved.points[j].tangent_impulse;
        }
    }
}

void describe_joint(const b2RevoluteJoint& joint, int k, WalkerDescription& to) { Joint::describe(joint, k, to); }
