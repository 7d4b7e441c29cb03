//! What an address leaves of the catalogue.

use std::collections::BTreeSet;

use guichet::auth::ROLES;
use guichet::registry::{prompts, resources, tools, toolset_names};
use serde_json::{Value, json};

use crate::world::{Answer, Client, World, body_of};

on_both! {
    toolsets_share_out_what_a_role_may_use_and_add_nothing,
    what_is_narrowed_away_answers_as_if_it_were_not_there,
    reading_alone_leaves_every_tool_that_reads,
    an_address_that_asks_for_what_is_not_there_is_refused,
}

fn at(client: &Client, query: &str, method: &str, params: Value) -> Answer {
    let headers = [("mcp-protocol-version", "2025-11-25")];
    client.send(&format!("/mcp?{query}"), &headers, &body_of(method, params).to_string())
}

/// The names or addresses in a list.
fn listed(client: &Client, query: &str, method: &str) -> BTreeSet<String> {
    let answer = at(client, query, method, json!({})).json();
    let lists = answer["result"].as_object().unwrap_or_else(|| panic!("{query} {answer}")).values();
    let entries = lists.flat_map(|list| list.as_array().unwrap());
    let name = |entry: &Value| {
        let name = entry.get("uri").or(entry.get("uriTemplate")).unwrap_or(&entry["name"]);
        name.as_str().unwrap().to_owned()
    };
    entries.map(name).collect()
}

/// The tools of every toolset.
const EVERYWHERE: [&str; 2] = ["who_am_i", "explain_figure"];
const LISTS: [&str; 4] =
    ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];

fn toolsets_share_out_what_a_role_may_use_and_add_nothing(world: &World) {
    let names = toolset_names();
    for role in ROLES {
        let client = world.client("leman", role.name);
        for method in LISTS {
            let whole = listed(&client, "", method);
            let mut seen = BTreeSet::new();
            for toolset in &names {
                let part = listed(&client, &format!("toolsets={toolset}"), method);
                assert!(part.is_subset(&whole), "{} {method} {toolset}", role.name);
                if method == "tools/list" {
                    let shared: Vec<_> = part.intersection(&seen).collect();
                    assert!(
                        shared.iter().all(|tool| EVERYWHERE.contains(&tool.as_str())),
                        "{toolset} {shared:?}"
                    );
                    assert!(part.contains("who_am_i"), "{toolset}");
                }
                seen.extend(part);
            }
            if method != "prompts/list" {
                assert_eq!(seen, whole, "{} {method}", role.name);
            }
            let all = listed(&client, &format!("toolsets={}", names.join(",")), method);
            assert_eq!(all, whole, "{} {method}", role.name);
        }
    }
    let accountant = world.client("leman", "accountant");
    let payroll = listed(&accountant, "toolsets=payroll", "tools/list");
    assert_eq!(payroll, EVERYWHERE.map(str::to_owned).into());
    let billing = listed(&accountant, "toolsets=billing&read_only=true", "tools/list");
    assert!(billing.contains("list_open_items") && !billing.contains("get_client"));
}

fn what_is_narrowed_away_answers_as_if_it_were_not_there(world: &World) {
    let owner = world.owner();
    let query = "toolsets=clients,payroll";
    let call = |name: &str| at(&owner, query, "tools/call", json!({ "name": name }));
    let shown = listed(&owner, query, "tools/list");
    for tool in tools().filter(|tool| !shown.contains(tool.name())) {
        assert_eq!(call(tool.name()).bytes, call("no_such_tool").bytes, "{}", tool.name());
    }
    let page = json!({ "name": "search_clients", "arguments": {} });
    let whole = owner.rpc("tools/call", page.clone());
    assert_eq!(at(&owner, query, "tools/call", page).text(), whole.text());

    let shown = listed(&owner, query, "resources/list");
    assert!(shown.contains("guichet://me") && !shown.contains("guichet://firm"));
    for resource in resources().filter(|one| !one.is_template() && !shown.contains(one.uri())) {
        let read = at(&owner, query, "resources/read", json!({ "uri": resource.uri() }));
        assert_eq!(read.json()["error"]["message"], "resource not found", "{}", resource.uri());
    }

    let shown = listed(&owner, query, "prompts/list");
    assert!(shown.contains("payroll_control") && !shown.contains("overdue_follow_up"));
    let get = |name: &str| at(&owner, query, "prompts/get", json!({ "name": name }));
    for prompt in prompts().filter(|prompt| !shown.contains(prompt.name())) {
        assert_eq!(get(prompt.name()).bytes, get("no_such_prompt").bytes, "{}", prompt.name());
    }

    for (reference, name) in [
        (json!({ "type": "ref/resource", "uri": "guichet://clients/{id}" }), "id"),
        (json!({ "type": "ref/prompt", "name": "overdue_follow_up" }), "client_id"),
    ] {
        let argument = json!({ "name": name, "value": "" });
        let params = json!({ "ref": reference, "argument": argument });
        let count = |query: &str| {
            let answer = at(&owner, query, "completion/complete", params.clone()).json();
            answer["result"]["completion"]["total"].as_i64().unwrap()
        };
        assert!(count("") > 0 && count("toolsets=payroll") == 0, "{reference}");
    }
}

fn reading_alone_leaves_every_tool_that_reads(world: &World) {
    let owner = world.owner();
    let answer = owner.rpc("tools/list", json!({})).json();
    let all = answer["result"]["tools"].as_array().unwrap();
    let reading = all.iter().filter(|tool| tool["annotations"]["readOnlyHint"] == true);
    let reading = reading.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(listed(&owner, "read_only=true", "tools/list"), reading);
    assert_eq!(listed(&owner, "read_only=false", "tools/list"), listed(&owner, "", "tools/list"));
}

fn an_address_that_asks_for_what_is_not_there_is_refused(world: &World) {
    let owner = world.owner();
    let known = toolset_names().join(", ");
    for (query, said) in [
        ("toolsets=nothing", format!("unknown toolset \"nothing\"; known are {known}")),
        ("toolsets=billing,nothing", format!("unknown toolset \"nothing\"; known are {known}")),
        ("toolsets=", format!("unknown toolset \"\"; known are {known}")),
        ("toolsets=billing&toolsets=payroll", "toolsets is given twice".to_owned()),
        ("read_only=yes", "read_only must be true or false, not \"yes\"".to_owned()),
        ("read_only=true&read_only=false", "read_only is given twice".to_owned()),
        (
            "readonly=true",
            "unknown parameter \"readonly\"; known are toolsets, read_only".to_owned(),
        ),
    ] {
        for method in ["initialize", "tools/list", "ping"] {
            let answer = at(&owner, query, method, json!({}));
            assert_eq!((answer.status, answer.json()), (400, json!({ "error": said })), "{query}");
        }
        assert_eq!(at(&world.anonymous(), query, "tools/list", json!({})).status, 401, "{query}");
        let welcome = at(&world.anonymous(), query, "initialize", json!({}));
        assert!(!welcome.text().contains("payroll,"), "nobody unknown is told of toolsets");
    }
    assert_eq!(at(&owner, "toolsets=billing%2C+payroll", "ping", json!({})).status, 200);
}
