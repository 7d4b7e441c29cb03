//! Rate limits: a bucket runs empty, says so, and empties for nobody else.

use serde_json::json;

use crate::world::{Database, Options, World};

fn limited() -> World {
    World::with(Database::sqlite(), &Options { rate: 20, ..Options::default() })
}

#[test]
fn a_credential_that_asks_too_much_is_told_when_to_come_back() {
    let world = limited();
    let owner = world.owner();
    let answers: Vec<_> = (0..30).map(|_| owner.rpc("ping", json!({}))).collect();
    assert!(answers[..20].iter().all(|answer| answer.status == 200));
    let refused = &answers[29];
    assert_eq!(refused.status, 429);
    assert!((1..=60).contains(&refused.header("retry-after").parse::<u32>().unwrap()));
    assert_eq!(refused.json()["error"]["code"], -31002);
}

#[test]
fn a_report_counts_as_several_calls() {
    let world = limited();
    let owner = world.owner();
    let answered =
        (0..20).filter(|_| owner.call("list_open_items", json!({})).status == 200).count();
    assert_eq!(answered, 6);
}

#[test]
fn a_firm_that_asks_too_much_slows_down_no_other() {
    let world = limited();
    for role in ["owner", "manager", "accountant"] {
        let client = world.client("leman", role);
        (0..10).for_each(|_| drop(client.rpc("ping", json!({}))));
    }
    assert_eq!(world.client("leman", "auditor").rpc("ping", json!({})).status, 429);
    assert_eq!(world.client("saentis", "auditor").rpc("ping", json!({})).status, 200);
}

#[test]
fn an_address_without_a_good_credential_is_limited_as_a_whole() {
    let world = limited();
    let statuses: Vec<_> = (0..30)
        .map(|n| match n % 3 {
            0 => world.anonymous().rpc("initialize", json!({})).status,
            1 => world.anonymous().rpc("tools/list", json!({})).status,
            _ => world.bearer("gct_wrong").rpc("ping", json!({})).status,
        })
        .collect();
    assert!(statuses[..12].iter().all(|status| [200, 401].contains(status)), "{statuses:?}");
    assert!(statuses[25..].iter().all(|status| *status == 429), "{statuses:?}");
    assert_eq!(
        world.owner().rpc("ping", json!({})).status,
        200,
        "a good credential is not the address"
    );
}
