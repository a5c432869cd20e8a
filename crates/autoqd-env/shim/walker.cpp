// BipedalWalker's bodies in Box2D behind a C interface: one call builds a world, one call makes a step.
//
// All numbers come from the caller, in the precision Box2D takes. No exception leaves this file; a failed
// assertion of Box2D makes the call return 0 and the world unusable until the next build.

#include "walker.h"

#include "island.h"

#include <Box2D/Box2D.h>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#if defined(__FMA__) || defined(__FAST_MATH__)
#error "Box2D must be compiled without -mfma, -march=native and -ffast-math: take them out of CXXFLAGS, results would change"
#endif

namespace {

thread_local const char* failed_assertion = "";

constexpr float TIME_STEP = static_cast<float>(1.0 / 50.0);
constexpr int POSITION_ITERATIONS = 60;
constexpr uint16 TERRAIN = 0x0001;
constexpr uint16 ROBOT = 0x0020;
constexpr int EDGES = WALKER_TERRAIN_POINTS - 1;

// The pausing step that has not come to its velocity constraints yet.
struct Pause {
    Robot robot;
    WalkerIsland* island;
    void (*wait)(void*);
    void* context;
};
thread_local const Pause* pending = nullptr;

b2Vec2 vec(const float v[2]) { return b2Vec2(v[0], v[1]); }

void put(float* to, const b2Vec2& from) {
    to[0] = from.x;
    to[1] = from.y;
}

}  // namespace

// Called by Box2D's assertions just before they throw (see the Python.h that the build script writes).
void autoqd_box2d_assertion(const char* text) { failed_assertion = text; }

// Called by Box2D in place of its loop over velocity constraints (see build_box2d.rs), which it runs on `false`.
bool autoqd_solve_velocities(b2Island& island, b2ContactSolver& contacts) {
    const Pause* pause = std::exchange(pending, nullptr);
    if (!pause || !copy_out(pause->robot, island, contacts, *pause->island)) return false;
    pause->wait(pause->context);
    copy_back(pause->robot, *pause->island, island, contacts);
    return true;
}

struct Walker final : b2ContactListener {
    std::optional<b2World> world;
    b2Body* terrain[EDGES];
    const b2EdgeShape* edges[EDGES];
    b2Body* hull;
    // Upper leg 1, lower leg 1, upper leg 2, lower leg 2; joint k connects to leg k.
    b2Body* legs[4];
    b2RevoluteJoint* joints[4];
    double rays[WALKER_RAYS][2];
    float terrain_step;
    bool fallen;
    bool contact[2];

    void BeginContact(b2Contact* c) override {
        const b2Body *a = c->GetFixtureA()->GetBody(), *b = c->GetFixtureB()->GetBody();
        fallen |= a == hull || b == hull;
        for (int leg = 0; leg < 2; ++leg) contact[leg] |= touches(leg, a, b);
    }

    // A foot counts as lifted when any one of its contacts ends, even if another one persists.
    void EndContact(b2Contact* c) override {
        const b2Body *a = c->GetFixtureA()->GetBody(), *b = c->GetFixtureB()->GetBody();
        for (int leg = 0; leg < 2; ++leg) contact[leg] &= !touches(leg, a, b);
    }

    bool touches(int leg, const b2Body* a, const b2Body* b) const {
        return a == legs[2 * leg + 1] || b == legs[2 * leg + 1];
    }

    void build(const WalkerDef& def, bool keep_world) {
        if (keep_world && world) {
            clear();
        } else {
            world.emplace(b2Vec2(0.0f, -10.0f));
        }
        world->SetContactListener(this);
        fallen = contact[0] = contact[1] = false;
        std::copy(&def.rays[0][0], &def.rays[0][0] + 2 * WALKER_RAYS, &rays[0][0]);
        build_terrain(def);
        build_hull(def);
        for (int leg = 0; leg < 2; ++leg) build_leg(def, leg);
    }

    // Gymnasium's order: it decides how the broad phase numbers the bodies of the next episode.
    void clear() {
        world->SetContactListener(nullptr);
        for (int i = EDGES - 1; i >= 0; --i) world->DestroyBody(terrain[i]);
        world->DestroyBody(hull);
        for (b2Body* leg : legs) world->DestroyBody(leg);
    }

    void build_terrain(const WalkerDef& def) {
        terrain_step = def.terrain[1][0];
        for (int i = 0; i < EDGES; ++i) {
            b2EdgeShape shape;
            shape.Set(vec(def.terrain[i]), vec(def.terrain[i + 1]));
            b2FixtureDef fixture;
            fixture.shape = &shape;
            fixture.friction = def.terrain_friction;
            fixture.filter.categoryBits = TERRAIN;
            b2BodyDef body;
            terrain[i] = world->CreateBody(&body);
            edges[i] = static_cast<const b2EdgeShape*>(terrain[i]->CreateFixture(&fixture)->GetShape());
        }
    }

    b2Body* robot_body(const float position[2], float angle, const b2PolygonShape& shape, float density, float friction) {
        b2BodyDef body;
        body.type = b2_dynamicBody;
        body.position = vec(position);
        body.angle = angle;
        b2FixtureDef fixture;
        fixture.shape = &shape;
        fixture.density = density;
        fixture.friction = friction;
        fixture.filter.categoryBits = ROBOT;
        fixture.filter.maskBits = TERRAIN;
        b2Body* created = world->CreateBody(&body);
        created->CreateFixture(&fixture);
        return created;
    }

    void build_hull(const WalkerDef& def) {
        b2Vec2 corners[WALKER_HULL_CORNERS];
        for (int i = 0; i < WALKER_HULL_CORNERS; ++i) corners[i] = vec(def.hull_corners[i]);
        b2PolygonShape shape;
        shape.Set(corners, WALKER_HULL_CORNERS);
        hull = robot_body(def.hull_position, 0.0f, shape, def.hull_density, def.hull_friction);
        hull->ApplyForceToCenter(b2Vec2(def.push, 0.0f), true);
    }

    void build_leg(const WalkerDef& def, int leg) {
        b2Body* parent = hull;
        for (int part = 0; part < 2; ++part) {
            const WalkerLimb& limb = def.limbs[part];
            b2PolygonShape shape;
            shape.SetAsBox(limb.half_size[0], limb.half_size[1]);
            b2Body* body = robot_body(limb.position, def.leg_angle[leg], shape, limb.density, limb.friction);
            b2RevoluteJointDef joint;
            joint.bodyA = parent;
            joint.bodyB = body;
            joint.localAnchorA = vec(limb.anchor_parent);
            joint.localAnchorB = vec(limb.anchor);
            joint.referenceAngle = body->GetAngle() - parent->GetAngle();
            joint.enableMotor = joint.enableLimit = true;
            joint.maxMotorTorque = def.motor_torque;
            joint.motorSpeed = limb.motor_speed[leg];
            joint.lowerAngle = limb.limits[0];
            joint.upperAngle = limb.limits[1];
            legs[2 * leg + part] = parent = body;
            joints[2 * leg + part] = static_cast<b2RevoluteJoint*>(world->CreateJoint(&joint));
        }
    }

    void advance(const WalkerMotors& motors) {
        for (int k = 0; k < 4; ++k) {
            joints[k]->SetMotorSpeed(motors.speed[k]);
            joints[k]->SetMaxMotorTorque(motors.torque[k]);
        }
        world->Step(TIME_STEP, WALKER_VELOCITY_ITERATIONS, POSITION_ITERATIONS);
    }

    Robot robot() const {
        return {{hull, legs[0], legs[1], legs[2], legs[3]}, {joints[0], joints[1], joints[2], joints[3]}};
    }

    // Written so that a position that is not a number gives an edge, too.
    int edge_at(float x) const {
        const float index = x / terrain_step;
        return index > 0.0f ? static_cast<int>(std::min(index, static_cast<float>(EDGES - 1))) : 0;
    }

    // The nearest hit of the edges under the ray, left to right. Edges are ordered by x and rays do not lean to the
    // left, so after a hit only the next edge, which shares a corner, can give an equally near one. Box2D's search
    // tree would test the same edges with the same function, only more of them.
    float range(const b2Vec2& from, const b2Vec2& to) const {
        const b2Transform identity(b2Vec2(0.0f, 0.0f), b2Rot(0.0f));
        const b2RayCastInput ray = {from, to, 1.0f};
        float nearest = 1.0f;
        int last = std::min(edge_at(to.x) + 1, EDGES - 1);
        for (int i = std::max(edge_at(from.x) - 1, 0); i <= last; ++i) {
            b2RayCastOutput hit;
            if (edges[i]->b2EdgeShape::RayCast(&hit, ray, identity, 0)) {
                nearest = std::min(nearest, hit.fraction);
                last = std::min(last, i + 1);
            }
        }
        return nearest;
    }

    void describe(WalkerDescription& to) {
        const float ground = terrain[0]->GetFixtureList()->GetFriction();
        for (int i = 0; i < 5; ++i) describe_body(i == 0 ? *hull : *legs[i - 1], ground, to.bodies[i]);
        advance(WalkerMotors());
        for (int k = 0; k < 4; ++k) describe_joint(*joints[k], k, to);
    }

    static void describe_body(const b2Body& body, float ground, WalkerBodyDescription& to) {
        const b2Fixture& fixture = *body.GetFixtureList();
        const b2PolygonShape& shape = *static_cast<const b2PolygonShape*>(fixture.GetShape());
        to.corner_count = static_cast<unsigned>(shape.m_count);
        for (int i = 0; i < shape.m_count; ++i) {
            put(to.corners[i], shape.m_vertices[i]);
            put(to.normals[i], shape.m_normals[i]);
        }
        put(to.centroid, shape.m_centroid);
        put(to.local_center, body.GetLocalCenter());
        to.friction = b2MixFriction(ground, fixture.GetFriction());
        put(to.position, body.GetPosition());
        to.angle = body.GetAngle();
        put(to.center, body.GetWorldCenter());
    }

    void read(WalkerState& state) const {
        for (int i = 0; i < 5; ++i) {
            const b2Body* body = i == 0 ? hull : legs[i - 1];
            state.pose[i][0] = body->GetPosition().x;
            state.pose[i][1] = body->GetPosition().y;
            state.pose[i][2] = body->GetAngle();
        }
        state.velocity[0] = hull->GetLinearVelocity().x;
        state.velocity[1] = hull->GetLinearVelocity().y;
        state.velocity[2] = hull->GetAngularVelocity();
        for (int k = 0; k < 4; ++k) {
            state.joint_angle[k] = joints[k]->GetJointAngle();
            state.joint_speed[k] = joints[k]->GetJointSpeed();
        }
        const b2Vec2 eye = hull->GetPosition();
        for (int i = 0; i < WALKER_RAYS; ++i) {
            const b2Vec2 end(static_cast<float>(eye.x + rays[i][0]), static_cast<float>(eye.y + rays[i][1]));
            state.lidar[i] = range(eye, end);
        }
        state.contact[0] = contact[0];
        state.contact[1] = contact[1];
        state.fallen = fallen;
    }
};

namespace {

// After a failed assertion the world is half way through a step: it can only be thrown away.
template <typename Body>
int guarded(Walker* walker, Body body) noexcept {
    try {
        body();
        return 1;
    } catch (const b2AssertException&) {
    } catch (const std::bad_alloc&) {
        failed_assertion = "out of memory";
    }
    walker->world.reset();
    return 0;
}

}  // namespace

extern "C" {

Walker* autoqd_walker_new() { return new (std::nothrow) Walker(); }

void autoqd_walker_free(Walker* walker) { delete walker; }

int autoqd_walker_build(Walker* walker, const WalkerDef* def, int keep_world) {
    return guarded(walker, [&] { walker->build(*def, keep_world); });
}

int autoqd_walker_step(Walker* walker, const WalkerMotors* motors, WalkerState* state) {
    if (!walker->world) return 0;
    return guarded(walker, [&] {
        walker->advance(*motors);
        walker->read(*state);
    });
}

int autoqd_walker_step_pausing(Walker* walker, const WalkerMotors* motors, WalkerState* state, WalkerIsland* island,
                               void (*wait)(void*), void* context) {
    if (!walker->world) return 0;
    const Pause pause = {walker->robot(), island, wait, context};
    pending = &pause;
    const int done = autoqd_walker_step(walker, motors, state);
    // Still set if the step had nothing to solve; another walker's if this one has paused.
    if (pending == &pause) pending = nullptr;
    return done;
}

int autoqd_walker_describe(Walker* walker, WalkerDescription* description) {
    if (!walker->world) return 0;
    return guarded(walker, [&] { walker->describe(*description); });
}

void autoqd_box2d_rotations(const float* angles, unsigned lanes, float* sines, float* cosines) {
    for (int i = 0; lanes != 0; ++i, lanes >>= 1) {
        if ((lanes & 1) == 0) continue;
        const b2Rot rotation(angles[i]);
        sines[i] = rotation.s;
        cosines[i] = rotation.c;
    }
}

int autoqd_walker_advance(Walker* walker, const WalkerMotors* motors) {
    if (!walker->world) return 0;
    return guarded(walker, [&] { walker->advance(*motors); });
}

// For tests: numbers that no step produces.
void autoqd_walker_set_hull_velocity(Walker* walker, float x, float y) {
    if (walker->world) walker->hull->SetLinearVelocity(b2Vec2(x, y));
}

// For tests: an assertion fails in the middle of the next step that has a contact.
void autoqd_walker_sabotage(Walker* walker) {
    struct Saboteur final : b2ContactListener {
        b2World* world;
        void PostSolve(b2Contact*, const b2ContactImpulse*) override {
            const b2BodyDef body;
            world->CreateBody(&body);  // the world is locked
        }
    };
    static thread_local Saboteur saboteur;
    if (walker->world) {
        saboteur.world = &*walker->world;
        walker->world->SetContactListener(&saboteur);
    }
}

const char* autoqd_box2d_failed_assertion() { return failed_assertion; }

// Box2D fills its tables when the first world and the first contact are made, without a lock.
int autoqd_box2d_initialize() {
    try {
        b2World world(b2Vec2(0.0f, -10.0f));
        b2PolygonShape box;
        box.SetAsBox(1.0f, 1.0f);
        b2BodyDef body;
        world.CreateBody(&body)->CreateFixture(&box, 1.0f);
        body.type = b2_dynamicBody;
        world.CreateBody(&body)->CreateFixture(&box, 1.0f);
        world.Step(TIME_STEP, 1, 1);
        return world.GetContactCount() == 1;
    } catch (...) {
        return 0;
    }
}

// The products and sums where compilers like to fuse, in code compiled as Box2D is.
void autoqd_box2d_rotate(const float* sin_cos, const float* point, float* rotated) {
    b2Rot rotation;
    rotation.s = sin_cos[0];
    rotation.c = sin_cos[1];
    const b2Vec2 result = b2Mul(rotation, b2Vec2(point[0], point[1]));
    rotated[0] = result.x;
    rotated[1] = result.y;
}

}  // extern "C"
