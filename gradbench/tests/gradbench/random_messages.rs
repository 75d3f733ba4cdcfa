//! Messages with random mistakes: each is answered, and the session continues.

#[path = "../../../tests/random/texts/mutate.rs"]
mod mutate;

use accel::interp::Interpreter;
use gradbench_accel::session::Session;
use mutate::{Random, mutated};

const MESSAGES: [&str; 16] = [
    r#"{"id":0,"kind":"start","eval":"hello"}"#,
    r#"{"id":1,"kind":"define","module":"hello"}"#,
    r#"{"id":2,"kind":"evaluate","module":"hello","function":"double","input":2.5}"#,
    r#"{"id":2,"kind":"evaluate","module":"hello","function":"square","input":-1e3}"#,
    r#"{"id":3,"kind":"analysis","of":2,"valid":true,"message":null}"#,
    r#"{"id":4,"kind":"evaluate","module":"lse","function":"primal","input":{"x":[1,2.5,-3]}}"#,
    r#"{"id":5,"kind":"evaluate","module":"lse","function":"gradient","input":{"x":[1,2.5,-3]}}"#,
    r#"{"id":6,"kind":"evaluate","module":"llsq","function":"primal","input":{"x":[0.5,2],"n":4}}"#,
    r#"{"id":7,"kind":"evaluate","module":"llsq","function":"gradient","input":{"x":[0.5,2],"n":4}}"#,
    r#"{"id":8,"kind":"evaluate","module":"kmeans","function":"cost","input":{"points":[[1,2],[3,4],[5,6]],"centroids":[[0,0],[1,1]]}}"#,
    r#"{"id":9,"kind":"evaluate","module":"kmeans","function":"dir","input":{"points":[[1,2],[3,4],[5,6]],"centroids":[[0,0],[1,1]]}}"#,
    r#"{"id":10,"kind":"evaluate","module":"gmm","function":"objective","input":{"d":2,"k":1,"n":1,"x":[[1,2]],"m":0,"gamma":1.0,"alpha":[0.1],"mu":[[0.5,0.5]],"q":[[0.1,0.2]],"l":[[0.3]]}}"#,
    r#"{"id":11,"kind":"evaluate","module":"ode","function":"gradient","input":{"x":[0.5,2],"s":3}}"#,
    r#"{"id":12,"kind":"evaluate","module":"det","function":"primal","input":{"A":[1,2,3,4],"ell":2}}"#,
    r#"{"id":13,"kind":"evaluate","module":"lstm","function":"objective","input":{"main_params":[[1,2,3,4],[0,1,0,1]],"extra_params":[[1],[2],[3]],"state":[[0],[1]],"sequence":[[0],[1]]}}"#,
    r#"{"id":14,"kind":"evaluate","module":"ht","function":"objective","input":{"theta":[0,0,0,1,2,3,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"data":{"model":{"bone_count":1,"parents":[-1],"base_relatives":[[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]],"inverse_base_absolutes":[[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]],"base_positions":[[1,2,3,1]],"weights":[[1]],"triangles":[],"is_mirrored":false},"correspondences":[0],"points":[[0,0,0]]},"us":[]}}"#,
];

/// Whether a message is fast to answer: it contains no valid number of points or rounds that would take long.
fn is_short(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit()).all(|n| n.len() <= 3 || n.len() > 12) && !text.contains("1e999")
}

fn messages(count: u64) {
    let mut session = Session::new(&Interpreter);
    for module in ["hello", "lse", "llsq", "kmeans", "gmm", "ode", "det", "lstm", "ht"] {
        session.answer(format!(r#"{{"id":1,"kind":"define","module":"{module}"}}"#).as_bytes());
    }
    let all = MESSAGES.map(str::as_bytes);
    for message in all {
        let answer = serde_json::to_value(session.answer(message)).expect("an answer is JSON");
        assert!(answer["success"] != false, "{answer}");
    }
    let (mut right, mut long) = (0, 0);
    for seed in 0..count {
        let mut r = Random::new(seed);
        let sample = all[r.below(all.len())];
        let line = mutated(&mut r, sample, &all);
        let text = String::from_utf8_lossy(&line);
        if !is_short(&text) || text.contains("define") {
            long += 1;
            continue;
        }
        let answer = serde_json::to_value(session.answer(&line)).expect("an answer is JSON");
        assert!(answer["success"] != false || answer["error"].is_string(), "{text}: {answer}");
        right += u64::from(answer["output"] != serde_json::Value::Null);
    }
    println!("{count} messages: {right} have a value, {long} were left out");
    assert!(right > 0 && long < count / 2);
}

#[test]
fn messages_with_mistakes() {
    messages(3000);
}

#[test]
#[ignore = "takes minutes: scripts/test.sh runs it"]
fn many_messages_with_mistakes() {
    messages(100_000);
}
