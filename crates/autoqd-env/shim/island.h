// Velocity constraints of a step, copied out of Box2D and back.
#pragma once

#include "walker.h"

class b2Body;
class b2ContactSolver;
class b2Island;
class b2RevoluteJoint;

// In the order of WalkerIsland.
struct Robot {
    const b2Body* bodies[5];
    b2RevoluteJoint* joints[4];
};

// False if there is something that WalkerIsland cannot hold.
bool copy_out(const Robot&, const b2Island&, const b2ContactSolver&, WalkerIsland&);
// The solution: velocities and impulses.
void copy_back(const Robot&, const WalkerIsland&, b2Island&, b2ContactSolver&);
// Mass and inertia are known to the joints only, after a step.
void describe_joint(const b2RevoluteJoint&, int k, WalkerDescription&);
