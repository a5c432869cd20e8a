// The C interface of walker.cpp; the Rust side repeats it in src/bipedal_walker/world.rs.
#pragma once

enum { WALKER_TERRAIN_POINTS = 200, WALKER_HULL_CORNERS = 5, WALKER_RAYS = 10 };

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

Walker* autoqd_walker_new();
void autoqd_walker_free(Walker*);
int autoqd_walker_build(Walker*, const WalkerDef*, int keep_world);
int autoqd_walker_step(Walker*, const WalkerMotors*, WalkerState*);
// The physics of a step alone.
int autoqd_walker_advance(Walker*, const WalkerMotors*);
void autoqd_walker_set_hull_velocity(Walker*, float x, float y);
void autoqd_walker_sabotage(Walker*);
const char* autoqd_box2d_failed_assertion();
int autoqd_box2d_initialize();
void autoqd_box2d_rotate(const float* sin_cos, const float* point, float* rotated);

}
