//! Compiles Box2D and the C interface to it.
//!
//! The sources stay as the package has them; the few that need a change are copied to the build folder first.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// A text that must occur exactly once in a file of Box2D, and what replaces it.
struct Change {
    file: &'static str,
    from: &'static str,
    to: &'static str,
}

/// Statistics that every thread writes become thread-local. The stack allocator's checks would throw out of
/// destructors, which ends the process, when a failed assertion elsewhere unwinds a step. Nobody reads the times that
/// Box2D takes of its parts, so its timer is stopped. Loops over all bodies that do nothing to static ones end at the
/// first: bodies made later come first, and all terrain is made before the robot. The one such loop that does reset a
/// number of static bodies, the fraction of the step they have been advanced to, only needs those with a contact, at the
/// end of the step: no others are advanced, and no contact goes away before that. The velocity constraints of an
/// island may be solved elsewhere, together with those of other worlds.
const CHANGES: [Change; 15] = [
    Change {
        file: "Collision/b2Distance.cpp",
        from: "\nint32 b2_gjkCalls, b2_gjkIters, b2_gjkMaxIters;",
        to: "\nthread_local int32 b2_gjkCalls, b2_gjkIters, b2_gjkMaxIters;",
    },
    Change {
        file: "Collision/b2TimeOfImpact.cpp",
        from: "\nfloat32 b2_toiTime, b2_toiMaxTime;",
        to: "\nthread_local float32 b2_toiTime, b2_toiMaxTime;",
    },
    Change {
        file: "Collision/b2TimeOfImpact.cpp",
        from: "\nint32 b2_toiCalls, b2_toiIters, b2_toiMaxIters;",
        to: "\nthread_local int32 b2_toiCalls, b2_toiIters, b2_toiMaxIters;",
    },
    Change {
        file: "Collision/b2TimeOfImpact.cpp",
        from: "\nint32 b2_toiRootIters, b2_toiMaxRootIters;",
        to: "\nthread_local int32 b2_toiRootIters, b2_toiMaxRootIters;",
    },
    Change {
        file: "Common/b2StackAllocator.cpp",
        from: "{\n\tb2Assert(m_index == 0);\n\tb2Assert(m_entryCount == 0);\n}",
        to: "{\n}",
    },
    Change { file: "Common/b2StackAllocator.cpp", from: "\tb2Assert(p == entry->data);\n", to: "" },
    Change {
        file: "Common/b2Timer.cpp",
        from: "#elif defined(__linux__) || defined (__APPLE__)\n",
        to: "#elif 0\n",
    },
    Change {
        file: "Dynamics/b2Island.cpp",
        from: "\nvoid b2Island::Solve(b2Profile* profile,",
        to: "\nbool autoqd_solve_velocities(b2Island&, b2ContactSolver&);\nvoid b2Island::Solve(b2Profile* profile,",
    },
    Change {
        file: "Dynamics/b2Island.cpp",
        from: "\tfor (int32 i = 0; i < step.velocityIterations; ++i)\n",
        to: "\tif (!autoqd_solve_velocities(*this, contactSolver))\n\tfor (int32 i = 0; i < step.velocityIterations; ++i)\n",
    },
    Change {
        file: "Dynamics/b2World.cpp",
        from: "\tfor (b2Body* b = m_bodyList; b; b = b->m_next)\n\t{\n\t\tb->m_flags &= ~b2Body::e_islandFlag;\n",
        to: "\tfor (b2Body* b = m_bodyList; b && b->m_type != b2_staticBody; b = b->m_next)\n\t{\n\t\tb->m_flags &= ~b2Body::e_islandFlag;\n",
    },
    Change {
        file: "Dynamics/b2World.cpp",
        from: "b; b = b->m_next)\n\t\t{\n\t\t\tb->m_flags &= ~b2Body::e_islandFlag;\n\t\t\tb->m_sweep.alpha0 = 0.0f;\n",
        to: "b && b->m_type != b2_staticBody; b = b->m_next)\n\t\t{\n\t\t\tb->m_flags &= ~b2Body::e_islandFlag;\n\t\t\tb->m_sweep.alpha0 = 0.0f;\n",
    },
    Change {
        file: "Dynamics/b2World.cpp",
        from: "\t\t\tm_stepComplete = true;\n\t\t\tbreak;\n",
        to: "\t\t\tm_stepComplete = true;\n\t\t\tfor (b2Contact* c = m_contactManager.m_contactList; c; c = c->m_next)\n\t\t\t\tc->m_fixtureA->m_body->m_sweep.alpha0 = c->m_fixtureB->m_body->m_sweep.alpha0 = 0.0f;\n\t\t\tbreak;\n",
    },
    Change {
        file: "Dynamics/b2World.cpp",
        from: "\tfor (b2Body* seed = m_bodyList; seed; seed = seed->m_next)\n",
        to: "\tfor (b2Body* seed = m_bodyList; seed && seed->m_type != b2_staticBody; seed = seed->m_next)\n",
    },
    Change {
        file: "Dynamics/b2World.cpp",
        from: "b; b = b->GetNext())\n\t\t{\n\t\t\t// If a body was not in an island",
        to: "b && b->m_type != b2_staticBody; b = b->GetNext())\n\t\t{\n\t\t\t// If a body was not in an island",
    },
    Change {
        file: "Dynamics/b2World.cpp",
        from: "\tfor (b2Body* body = m_bodyList; body; body = body->GetNext())\n",
        to: "\tfor (b2Body* body = m_bodyList; body && body->m_type != b2_staticBody; body = body->GetNext())\n",
    },
];

/// b2Settings.h includes Python.h for its assertions: it sets a Python error, then throws.
const PYTHON_H: &str = "#pragma once
void autoqd_box2d_assertion(const char* text);
#define PyErr_SetString(kind, text) autoqd_box2d_assertion(text)
";

/// Compiles Box2D with the flags under which its results equal those of Gymnasium's wheel.
pub fn compile() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo")).join("box2d");
    println!("cargo::rerun-if-env-changed=AUTOQD_BOX2D_DIR");
    let package = match env::var_os("AUTOQD_BOX2D_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => manifest.join("../../third_party/box2d"),
    };
    println!("cargo::rerun-if-changed={}", package.join("box2d.lock").display());
    println!("cargo::rerun-if-changed={}", manifest.join("shim").display());
    if !package.join("box2d.lock").exists() {
        fail(&format!(
            "the sources of Box2D are not in {}: run `make native` once in a checkout of autoqd, and outside of one \
             set AUTOQD_BOX2D_DIR to its third_party/box2d; or build without the feature 'box2d'",
            package.display()
        ));
    }
    write(&out.join("Python.h"), PYTHON_H);
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .warnings(false)
        .define("NDEBUG", None)
        .flag_if_supported("-ffp-contract=off")
        // gcc makes fused multiply-adds out of packed products in spite of the flag above.
        .flag_if_supported("-fno-tree-slp-vectorize")
        .include(&out)
        .include(&package)
        .file(manifest.join("shim/walker.cpp"))
        .file(manifest.join("shim/island.cpp"));
    build.file(together(&package.join("Box2D"), &out));
    build.compile("autoqd_box2d");
}

/// A file that includes all of Box2D's: compiled as one they take a quarter of the time.
fn together(root: &Path, out: &Path) -> PathBuf {
    let include = |source: &PathBuf| format!("#include \"{}\"\n", changed(source, root, out).display());
    let text: String = sources(root).iter().map(include).collect();
    let path = out.join("box2d.cpp");
    write(&path, &text);
    path
}

/// Every C++ file below `folder`, in a fixed order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|e| fail(&format!("cannot read {}: {e}", folder.display())));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    paths.into_iter().flat_map(below).filter(|p| p.extension().is_some_and(|e| e == "cpp")).collect()
}

/// The path of `source`, or of its copy in `out` with the changes to it.
fn changed(source: &Path, root: &Path, out: &Path) -> PathBuf {
    let name = source.strip_prefix(root).expect("a path below the root");
    let changes: Vec<&Change> = CHANGES.iter().filter(|change| Path::new(change.file) == name).collect();
    if changes.is_empty() {
        return source.to_path_buf();
    }
    let text = fs::read_to_string(source)
        .unwrap_or_else(|e| fail(&format!("cannot read {}: {e}", source.display())));
    // The package has Windows line ends in some files.
    let copy = changes.iter().fold(text.replace("\r\n", "\n"), |text, change| {
        if text.matches(change.from).count() != 1 {
            fail(&format!(
                "{} does not hold {:?} once: not the Box2D of scripts/box2d.lock?",
                name.display(),
                change.from
            ));
        }
        text.replace(change.from, change.to)
    });
    let path = out.join(name);
    write(&path, &copy);
    path
}

fn write(path: &Path, text: &str) {
    let folder = path.parent().expect("a file in the build folder");
    if let Err(error) = fs::create_dir_all(folder).and_then(|()| fs::write(path, text)) {
        fail(&format!("cannot write {}: {error}", path.display()));
    }
}

fn fail(message: &str) -> ! {
    println!("cargo::error={message}");
    process::exit(1);
}
