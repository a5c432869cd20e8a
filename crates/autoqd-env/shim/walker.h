// The C interface of walker.cpp; the Rust side repeats it in src/bipedal_walker/world.rs.
#pragma once

enum { WALKER_TERRAIN_POINTS = 200, WALKER_HULL_CORNERS = 5, WALKER_RAYS = 10 };
enum { WALKER_VELOCITY_ITERATIONS = 180, WALKER_BODY_CONTACTS = 4 };

extern "C" {

struct Walker;

// Upper or lower part of both legs and the joint that holds it.
struct WalkerLimb {
    float position[2];
    float half_size[2];
    float density;
    float friction;
    float anchor_parent[2];
    float anchor[2];
    float limits[2];
    float motor_speed[2];
};

struct WalkerDef {
    double rays[WALKER_RAYS][2];
    float terrain[WALKER_TERRAIN_POINTS][2];
    float terrain_friction;
    float hull_position[2];
    float hull_corners[WALKER_HULL_CORNERS][2];
    float hull_density;
    float hull_friction;
    float push;
    float leg_angle[2];
    float motor_torque;
    WalkerLimb limbs[2];
};

struct WalkerMotors {
    float speed[4];
    float torque[4];
};

struct WalkerState {
    // Hull, upper leg 1, lower leg 1, upper leg 2, lower leg 2: x, y, angle.
    float pose[5][3];
    // Of the hull: x, y, angular.
    float velocity[3];
    float joint_angle[4];
    float joint_speed[4];
    float lidar[WALKER_RAYS];
    unsigned char contact[2];
    unsigned char fallen;
};

// What Box2D makes of a body's definition.
struct WalkerBodyDescription {
    unsigned corner_count;
    float corners[WALKER_HULL_CORNERS][2];
    float normals[WALKER_HULL_CORNERS][2];
    float centroid[2];
    float local_center[2];
    float inverse_mass;
    float inverse_inertia;
    // On the ground.
    float friction;
    float position[2];
    float angle;
    float center[2];
};

struct WalkerHingeDescription {
    // From the centers of mass of parent and leg.
    float arms[2][2];
    float reference;
    float limits[2];
};

struct WalkerDescription {
    WalkerBodyDescription bodies[5];
    WalkerHingeDescription hinges[4];
};

// Joint k between parent and leg k; k as in WalkerMotors.
struct WalkerJoint {
    // Of parent and leg: inverse mass, inverse inertia, and where the joint is from the center of mass.
    float inverse_mass[2];
    float inverse_inertia[2];
    float arm[2][2];
    // Columns of the effective mass.
    float mass[3][3];
    float motor_mass;
    float motor_speed;
    float motor_limit;
    // -1 at the lower limit, 1 at the upper one, 0 between them.
    float limit;
    float impulse[3];
    float motor_impulse;
};

struct WalkerContactPoint {
    // From the centers of mass of ground and body.
    float ground_arm[2];
    float arm[2];
    float normal_impulse;
    float tangent_impulse;
    float normal_mass;
    float tangent_mass;
    float velocity_bias;
};

// A contact of one body with the ground.
struct WalkerContact {
    WalkerContactPoint points[2];
    float normal[2];
    // Columns.
    float normal_mass[2][2];
    float k[2][2];
    float inverse_mass;
    float inverse_inertia;
    float friction;
    // 1 or 2.
    float point_count;
};

// The velocity constraints of a step. Body 0 is the hull, body 1 + k is leg k.
struct WalkerIsland {
    // x, y, angular.
    float velocity[5][3];
    WalkerJoint joints[4];
    unsigned contact_count[5];
    WalkerContact contacts[5][WALKER_BODY_CONTACTS];
};

Walker* autoqd_walker_new();
void autoqd_walker_free(Walker*);
int autoqd_walker_build(Walker*, const WalkerDef*, int keep_world);
int autoqd_walker_step(Walker*, const WalkerMotors*, WalkerState*);
// A step that lets others solve its velocity constraints: it fills `island`, calls `pause`, and goes on with what
// `island` holds then. Constraints that do not fit in there are solved by Box2D, without a pause.
int autoqd_walker_step_pausing(Walker*, const WalkerMotors*, WalkerState*, WalkerIsland* island,
                               void (*pause)(void*), void* context);
// The robot of a world before its first step, which this makes.
int autoqd_walker_describe(Walker*, WalkerDescription*);
// Sines and cosines of the angles whose bits are set.
void autoqd_box2d_rotations(const float* angles, unsigned lanes, float* sines, float* cosines);
// The physics of a step alone.
int autoqd_walker_advance(Walker*, const WalkerMotors*);
void autoqd_walker_set_hull_velocity(Walker*, float x, float y);
void autoqd_walker_sabotage(Walker*);
const char* autoqd_box2d_failed_assertion();
int autoqd_box2d_initialize();
void autoqd_box2d_rotate(const float* sin_cos, const float* point, float* rotated);

}
