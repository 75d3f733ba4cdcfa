//! Malformed messages: each is answered with an error, and the session continues.

use crate::support::Driver;
use serde_json::{Value, json};

/// The error of an answer, which has no output.
fn error(answer: &Value) -> &str {
    assert_eq!(answer["success"], false, "{answer}");
    assert!(answer.get("output").is_none() && answer.get("timings").is_none(), "{answer}");
    answer["error"].as_str().unwrap()
}

/// Checks that the tool still answers.
fn goes_on(driver: &mut Driver) {
    assert_eq!(driver.evaluate("hello", "double", json!(1.5)), 3.0);
}

#[test]
fn lines_that_are_not_messages() {
    let mut driver = Driver::new(&[]);
    driver.start("hello");
    let cases: [(&[u8], Value, &str); 13] = [
        (b"{\"id\":7,", json!(null), "not a message"),
        (b"nonsense", json!(null), "not a message"),
        (b"\xff\xfe", json!(null), "not a message"),
        (b"[]", json!(null), "not a message"),
        (b"7", json!(null), "not a message"),
        (b"{}", json!(null), "`id`"),
        (b"{\"id\":\"7\",\"kind\":\"start\"}", json!(null), "invalid type"),
        (b"{\"id\":7}", json!(7), "`kind`"),
        (b"{\"id\":7,\"kind\":null}", json!(7), "invalid type"),
        (b"{\"id\":7,\"kind\":\"define\"}", json!(7), "`module`"),
        (b"{\"id\":7,\"kind\":\"define\",\"module\":1}", json!(7), "invalid type"),
        (b"{\"id\":7,\"kind\":\"evaluate\",\"module\":\"hello\",\"input\":1}", json!(7), "`function`"),
        (b"{\"id\":7,\"kind\":\"evaluate\",\"module\":\"hello\",\"function\":\"double\"}", json!(7), "`input`"),
    ];
    for (line, id, message) in cases {
        let answer = driver.send_line(line);
        assert_eq!(answer["id"], id, "{answer}");
        assert!(error(&answer).contains(message), "{answer}, not {message}");
        goes_on(&mut driver);
    }
    // JSON has no such numbers, and GradBench's intermediary rejects them.
    let answer = driver.send_line(br#"{"id":7,"kind":"evaluate","module":"hello","function":"double","input":NaN}"#);
    error(&answer);
    goes_on(&mut driver);
    driver.finish();
}

#[test]
fn nesting_without_end_is_an_error() {
    let mut driver = Driver::new(&[]);
    driver.start("hello");
    let deep = "[".repeat(100_000);
    let line = format!(r#"{{"id":7,"kind":"evaluate","module":"hello","function":"double","input":{deep}}}"#);
    error(&driver.send_line(line.as_bytes()));
    goes_on(&mut driver);
    driver.finish();
}

#[test]
fn unknown_names() {
    let mut driver = Driver::new(&[]);
    driver.start("hello");
    let answer = driver.send("define", json!({ "module": "abacus" }));
    assert!(error(&answer).contains("`abacus`"), "{answer}");
    let answer = driver.send("evaluate", json!({ "module": "lse", "function": "primal", "input": { "x": [1] } }));
    assert!(error(&answer).contains("`lse` has not been defined"), "{answer}");
    let answer = driver.send("evaluate", json!({ "module": "hello", "function": "triple", "input": 1 }));
    assert!(error(&answer).contains("`triple`"), "{answer}");
    // An unknown message of a later version of the protocol is answered with its number only.
    assert_eq!(driver.send("dance", json!({ "tempo": 120 })), json!({ "id": 5 }));
    goes_on(&mut driver);
    driver.finish();
}

#[test]
fn inputs_of_other_shapes() {
    let mut driver = Driver::new(&[]);
    driver.start("hello");
    for (module, _) in gradbench_accel::evals::EVALS {
        assert_eq!(driver.send("define", json!({ "module": module }))["success"], true);
    }
    let gmm = json!({
        "d": 2, "k": 1, "n": 1, "x": [[0, 0]], "m": 0, "gamma": 1, "alpha": [0], "mu": [[0, 0]], "q": [[0, 0]], "l": [[0]],
    });
    let ba = json!({ "n": 1, "m": 1, "p": 1, "cam": [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], "x": [0, 0, 1], "w": 1, "feat": [0, 0] });
    let lstm = json!({
        "main_params": [[0, 0, 0, 0], [0, 0, 0, 0]], "extra_params": [[0], [0], [0]], "state": [[0], [0]], "sequence": [[0], [1]],
    });
    let with = |input: &Value, field: &str, value: Value| {
        let mut input = input.clone();
        input[field] = value;
        input
    };
    let cases = [
        ("hello", "double", json!("1"), "invalid type"),
        ("hello", "double", json!({ "x": 1 }), "invalid type"),
        ("lse", "primal", json!(1), "invalid type"),
        ("lse", "primal", json!({}), "`x`"),
        ("lse", "primal", json!({ "x": 1 }), "invalid type"),
        ("lse", "primal", json!({ "x": [1, "2"] }), "invalid type"),
        ("lse", "primal", json!({ "x": [1, [2]] }), "invalid type"),
        ("lse", "primal", json!({ "x": [1], "min_runs": -1 }), "invalid value"),
        ("lse", "primal", json!({ "x": [1], "min_seconds": "1" }), "invalid type"),
        ("lse", "primal", json!({ "x": [1], "min_runs": 20_001 }), "at most 20000 runs"),
        ("lse", "primal", json!({ "x": [1], "min_seconds": 1e300 }), "at most 3600 s"),
        ("lse", "gradient", json!({ "x": [] }), "`maximum`"),
        ("llsq", "primal", json!({ "x": [1] }), "`n`"),
        ("llsq", "primal", json!({ "x": [1], "n": 2.5 }), "invalid type"),
        ("llsq", "gradient", json!({ "x": [1], "n": -2 }), "invalid value"),
        ("kmeans", "cost", json!({ "points": [[1, 2], [3]], "centroids": [[1, 2]] }), "`points` is not a matrix"),
        ("kmeans", "dir", json!({ "points": [[1, 2]], "centroids": [[1, 2], []] }), "`centroids` is not a matrix"),
        ("kmeans", "dir", json!({ "points": [[1, 2]], "centroids": [[1, 2, 3]] }), "coordinates"),
        ("kmeans", "cost", json!({ "points": [[1, 2]], "centroids": [] }), "centroid"),
        ("gmm", "objective", with(&gmm, "mu", json!([[0, 0], [0]])), "`mu` is not a matrix"),
        ("gmm", "objective", with(&gmm, "alpha", json!([0, 0])), "`alpha`"),
        ("gmm", "jacobian", with(&gmm, "l", json!([[0, 0]])), "`l`"),
        ("gmm", "jacobian", with(&gmm, "x", json!(null)), "invalid type"),
        ("ba", "objective", with(&ba, "cam", json!([1, 2])), "invalid length"),
        ("ba", "jacobian", with(&ba, "p", json!(0)), "at least 1"),
        ("ba", "jacobian", with(&ba, "p", json!(1u64 << 62)), "too many"),
        ("ba", "jacobian", with(&ba, "n", json!(-1)), "invalid value"),
        ("ode", "primal", json!({ "x": [], "s": 1 }), "must have a number"),
        ("ode", "primal", json!({ "x": [1], "s": 0 }), "at least 1"),
        ("ode", "gradient", json!({ "x": [1], "s": -1 }), "invalid value"),
        ("ode", "gradient", json!({ "x": [1], "s": 4_000_000_000u32 }), "operations"),
        ("ode", "primal", json!({ "x": [1], "s": 1u64 << 40 }), "invalid value"),
        ("det", "primal", json!({ "A": [1, 2, 3], "ell": 2 }), "`A` has 3 numbers"),
        ("det", "gradient", json!({ "A": [1], "ell": u64::MAX }), "at most 15 rows"),
        ("det", "gradient", json!({ "A": vec![0; 225], "ell": 15 }), "operations"),
        ("det", "gradient", json!({ "A": [[1]], "ell": 1 }), "invalid type"),
        ("det", "primal", json!({ "ell": 0 }), "`A`"),
        (
            "lstm",
            "objective",
            with(&lstm, "main_params", json!([[0, 0, 0, 0], [0, 0, 0]])),
            "`main_params` is not a matrix",
        ),
        ("lstm", "objective", with(&lstm, "main_params", json!([[0], [0]])), "`main_params` is [2, 1]"),
        ("lstm", "jacobian", with(&lstm, "main_params", json!([])), "takes a layer"),
        ("lstm", "jacobian", with(&lstm, "extra_params", json!([[0], [0]])), "`extra_params` is [2, 1]"),
        ("lstm", "jacobian", with(&lstm, "state", json!([[0], [0], [0]])), "`state` is [3, 1]"),
        ("lstm", "jacobian", with(&lstm, "sequence", json!([[0]])), "two characters"),
        ("lstm", "jacobian", with(&lstm, "sequence", json!([[0, 1], [0, 1]])), "`sequence` is [2, 2]"),
        ("particle", "rr", json!({ "w": [0] }), "invalid type"),
        ("particle", "ff", json!({}), "`w`"),
        ("saddle", "fr", json!({ "start": [1] }), "invalid length"),
        ("saddle", "rf", json!({ "start": 1 }), "invalid type"),
    ];
    for (module, function, input, message) in cases {
        let fields = json!({ "module": module, "function": function, "input": input });
        let answer = driver.send("evaluate", fields.clone());
        assert!(error(&answer).contains(message), "{fields}: {answer}, not {message}");
        goes_on(&mut driver);
    }
    driver.finish();
}

/// A few bytes that demand gigabytes, with 4 of them available.
#[cfg(target_os = "linux")]
#[test]
fn messages_that_ask_for_more_memory_than_there_is() {
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -v 4000000; exec \"$0\"", env!("CARGO_BIN_EXE_gradbench-accel")]);
    let mut driver = Driver::of(limited);
    driver.start("hello");
    for module in ["llsq", "ba"] {
        assert_eq!(driver.send("define", json!({ "module": module }))["success"], true);
    }
    let ba = json!({ "n": 1, "m": 1, "p": 30_000_000, "cam": [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], "x": [0, 0, 1], "w": 1, "feat": [0, 0] });
    let cases = [
        ("llsq", "primal", json!({ "x": [1], "n": 4_000_000_000u32 }), "takes about 672000 MB of memory"),
        ("ba", "objective", ba, "takes about 24001 MB of memory"),
    ];
    for (module, function, input, message) in cases {
        let answer = driver.send("evaluate", json!({ "module": module, "function": function, "input": input }));
        assert!(error(&answer).contains(message), "{answer}, not {message}");
        goes_on(&mut driver);
    }
    driver.finish();
}

/// A function of microseconds that is to run for long: its answer would contain millions of times.
#[test]
fn answers_have_a_bounded_number_of_times() {
    let mut driver = Driver::new(&[]);
    driver.start("llsq");
    let input = json!({ "x": [1, 2], "n": 3, "min_runs": 2, "min_seconds": 3600 });
    let answer = driver.send("evaluate", json!({ "module": "llsq", "function": "primal", "input": input }));
    assert_eq!(answer["timings"].as_array().unwrap().len(), 20_001, "one to prepare, and the most that are run");
    assert!(answer.to_string().len() < 1 << 20);
    driver.finish();
}

#[test]
fn options_that_are_wrong() {
    let tool = |options: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_gradbench-accel")).args(options).output().unwrap();
        assert!(output.stdout.is_empty(), "standard output is for answers");
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, message) = tool(&["--backend", "abacus"]);
    assert!(code == Some(1) && message.contains("abacus"), "{code:?} {message}");
    let (code, message) = tool(&["--faster"]);
    assert!(code == Some(2) && message.contains("--faster"), "{code:?} {message}");
    let (code, message) = tool(&["--help"]);
    assert!(code == Some(0) && message.contains("--multithreaded"), "{code:?} {message}");
}

#[test]
fn the_answer_to_start_says_how_the_tool_runs() {
    for (options, threads) in
        [(vec![], 1), (vec!["--multithreaded"], std::thread::available_parallelism().unwrap().get())]
    {
        let mut driver = Driver::new(&options);
        let answer = driver.send("start", json!({ "eval": "hello", "config": { "anything": [1] } }));
        assert_eq!(answer["config"]["threads"], threads, "{answer}");
        driver.finish();
    }
}
