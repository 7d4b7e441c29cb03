//! Signing in with e-mail and password.

use serde_json::{Value, json};

use crate::world::{Answer, World};

on_both! {
    a_person_of_several_firms_names_one,
    every_wrong_sign_in_reads_the_same,
    what_cannot_be_a_password_is_refused_before_any_work,
    failures_slow_an_account_down_and_lock_nobody_out,
    guesses_at_once_count_as_guesses_one_after_the_other,
    many_at_once_are_queued_or_turned_away,
}

fn sign_in(world: &World, body: &Value) -> Answer {
    world.anonymous().send("/auth/token", &[], &body.to_string())
}

fn a_person_of_several_firms_names_one(world: &World) {
    let people = guichet::demo::people();
    let shared = people
        .iter()
        .find(|person| people.iter().filter(|other| other.email == person.email).count() == 2)
        .expect("one person belongs to both firms");
    let (email, password) = (&shared.email, &shared.password);
    let undecided = sign_in(world, &json!({ "email": email, "password": password }));
    assert_eq!(undecided.status, 400);
    let said = undecided.json();
    assert_eq!(said["error"], "tenant_required");
    let firms: Vec<_> =
        said["tenants"].as_array().unwrap().iter().map(|firm| &firm["tenant"]).collect();
    assert_eq!(firms, ["leman", "saentis"]);
    assert!(said.get("access_token").is_none());
    let elsewhere = json!({ "email": email, "password": password, "tenant": "nowhere" });
    assert_eq!(sign_in(world, &elsewhere).json()["error"], "tenant_required");
    for tenant in ["leman", "saentis"] {
        let body = json!({ "email": email.to_uppercase(), "password": password, "tenant": tenant });
        let answer = sign_in(world, &body);
        assert_eq!((answer.status, answer.header("cache-control")), (200, "no-store"));
        let signed = answer.json();
        assert_eq!((&signed["tenant"], &signed["expires_in"]), (&json!(tenant), &json!(600)));
        let me = world.bearer(signed["access_token"].as_str().unwrap()).ask("who_am_i", json!({}));
        assert_eq!(me["firm"]["slug"], tenant);
        assert_eq!(me["credential"]["kind"], "jwt");
    }
}

fn every_wrong_sign_in_reads_the_same(world: &World) {
    let owner = world.person("leman", "owner");
    let inactive = guichet::demo::people()
        .into_iter()
        .find(|person| person.state == guichet::demo::DemoState::Deactivated);
    let inactive = inactive.expect("one person is deactivated");
    let wrong = [
        json!({ "email": owner.email, "password": "not the password" }),
        json!({ "email": "nobody@nowhere.example", "password": owner.password }),
        json!({ "email": inactive.email, "password": inactive.password }),
        json!({ "email": "' OR 1=1--", "password": owner.password }),
    ];
    let answers: Vec<Answer> = wrong.iter().map(|body| sign_in(world, body)).collect();
    for answer in &answers {
        assert_eq!((answer.status, &answer.bytes), (401, &answers[0].bytes));
    }
    assert!(!answers[0].text().contains(&owner.email));
    for body in [
        "",
        "[]",
        r#"["a","b"]"#,
        "{}",
        r#"{"email":"a"}"#,
        r#"{"email":"a","password":"b","role":"owner"}"#,
        r#"{"email":"a","password":"b","password":"c"}"#,
    ] {
        assert_eq!(world.anonymous().send("/auth/token", &[], body).status, 400, "{body}");
    }
    assert_eq!(world.anonymous().get("/auth/token").status, 404);
    let origin = [("origin", "http://evil.example")];
    assert_eq!(world.anonymous().send("/auth/token", &origin, &wrong[0].to_string()).status, 403);
    let form = [("content-type", "text/plain")];
    assert_eq!(world.anonymous().send("/auth/token", &form, &wrong[0].to_string()).status, 415);
}

fn what_cannot_be_a_password_is_refused_before_any_work(world: &World) {
    let email = world.person("leman", "owner").email;
    for (password, status) in [
        ("x".repeat(129), 401),
        ("e\u{301}".repeat(1_000), 401),
        ("x".repeat(1_000_000), 413),
        ("a\u{0}b".to_owned(), 400),
        (String::new(), 401),
    ] {
        let answer = sign_in(world, &json!({ "email": email, "password": password }));
        assert_eq!(answer.status, status, "{} bytes", password.len());
    }
}

fn failures_slow_an_account_down_and_lock_nobody_out(world: &World) {
    let owner = world.person("leman", "owner");
    let wrong = json!({ "email": owner.email, "password": "wrong" });
    assert_eq!(sign_in(world, &wrong).status, 401);
    let right = json!({ "email": owner.email, "password": owner.password, "tenant": "leman" });
    let slowed = sign_in(world, &right);
    assert_eq!((slowed.status, slowed.header("retry-after")), (429, "1"));
    let other = world.person("leman", "auditor");
    let other = json!({ "email": other.email, "password": other.password });
    assert_eq!(sign_in(world, &other).status, 200, "nobody else is slowed down");
    let unknown = json!({ "email": "nobody@nowhere.example", "password": "wrong" });
    assert_eq!(sign_in(world, &unknown).status, 401);
    assert_eq!(
        sign_in(world, &unknown).status,
        429,
        "an account that is none is slowed down alike"
    );
}

fn guesses_at_once_count_as_guesses_one_after_the_other(world: &World) {
    let email = world.person("leman", "owner").email;
    let statuses: Vec<u16> = std::thread::scope(|threads| {
        let guessing: Vec<_> = (0..20)
            .map(|n| {
                let body = json!({ "email": email, "password": format!("guess {n}") });
                threads.spawn(move || sign_in(world, &body).status)
            })
            .collect();
        guessing.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
}

fn many_at_once_are_queued_or_turned_away(world: &World) {
    let statuses: Vec<u16> = std::thread::scope(|threads| {
        let signing: Vec<_> = (0..80)
            .map(|n| {
                let body =
                    json!({ "email": format!("person{n}@nowhere.example"), "password": "wrong" });
                threads.spawn(move || sign_in(world, &body).status)
            })
            .collect();
        signing.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&401));
    assert_eq!(world.owner().rpc("ping", json!({})).status, 200);
}
