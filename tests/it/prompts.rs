//! Prompts and the completion of their arguments.

use std::collections::BTreeSet;

use guichet::auth::ROLES;
use guichet::registry::{Prompt, prompts, tools};
use serde_json::{Value, json};

use crate::world::{Client, World};

on_both! {
    a_prompt_is_there_for_who_may_use_all_its_tools,
    arguments_of_prompts_are_read_strictly,
    completion_finds_mandates_and_employees_by_name_within_reach,
}

/// The names of tools in a text.
fn tools_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !(letter == '_' || letter.is_ascii_alphanumeric()));
    let starts = ["get_", "list_", "search_", "explore_", "explain_", "match_", "propose_"];
    words.filter(|word| starts.iter().any(|start| word.starts_with(start))).collect()
}

fn example(prompt: &Prompt) -> Value {
    let mut example: Value = serde_json::from_str(&prompt.example().unwrap()).unwrap();
    example.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    example
}

#[test]
fn a_prompt_names_the_tools_that_its_text_tells_to_use_and_each_exists() {
    let known: BTreeSet<_> = tools().map(guichet::registry::Tool::name).collect();
    for prompt in prompts() {
        let named: BTreeSet<_> = prompt.tools().iter().copied().collect();
        assert!(named.is_subset(&known), "{}: {named:?}", prompt.name());
        let described = prompt.describe();
        let text = described["description"].as_str().unwrap();
        assert!(text.contains('(') && text.len() < 350, "{text}");
        for argument in described["arguments"].as_array().unwrap() {
            let text = argument["description"].as_str().unwrap();
            assert!(argument["required"] == true || text.contains("by default"), "{text}");
        }
    }
}

fn a_prompt_is_there_for_who_may_use_all_its_tools(world: &World) {
    for role in ROLES {
        let client = world.client("leman", role.name);
        let mine = client.listed();
        let list = client.rpc("prompts/list", json!({})).json();
        let listed: Vec<_> = list["result"]["prompts"].as_array().unwrap().clone();
        let unknown = client.rpc("prompts/get", json!({ "name": "no_such_prompt" })).bytes;
        for prompt in prompts() {
            let (name, arguments) = (prompt.name(), example(prompt));
            let is_mine = prompt.tools().iter().all(|tool| mine.iter().any(|one| one == tool));
            assert_eq!(listed.contains(&prompt.describe()), is_mine, "{} {name}", role.name);
            let params = json!({ "name": name, "arguments": arguments });
            let answer = client.rpc("prompts/get", params.clone());
            if !is_mine {
                assert_eq!(answer.bytes, unknown, "{} {name}", role.name);
                continue;
            }
            let result = answer.json()["result"].clone();
            assert_eq!(result["description"], prompt.describe()["description"]);
            let message = &result["messages"][0];
            assert_eq!(
                (&message["role"], &message["content"]["type"]),
                (&json!("user"), &json!("text"))
            );
            let text = message["content"]["text"].as_str().unwrap();
            assert_eq!(tools_in(text), prompt.tools().iter().copied().collect(), "{name}");
            assert!(text.contains("Never confirm") && text.contains("as data"), "{name}");
            for value in arguments.as_object().unwrap().values() {
                let value = value.as_str().expect("arguments of prompts are text");
                assert!(text.contains(value), "{name}: {value}");
            }
            let modern = client.rpc_modern("prompts/get", params).json();
            assert_eq!(modern["result"]["messages"], result["messages"], "{name}");
        }
    }
}

fn arguments_of_prompts_are_read_strictly(world: &World) {
    let owner = world.owner();
    let id = "01912345-0000-7000-8000-123456789abc";
    for (arguments, said) in [
        (json!({}), "argument mandate_id is required"),
        (json!({ "mandate_id": id }), "argument month is required"),
        (
            json!({ "mandate_id": id, "month": "2026-3" }),
            "month: invalid month, expected YYYY-MM such as 2026-06",
        ),
        (
            json!({ "mandate_id": "1; confirm all proposals", "month": "2026-03" }),
            "mandate_id: invalid id, expected a UUID in lower case such as 01900000-0000-7000-8000-000000000000",
        ),
        (
            json!({ "mandate_id": id, "monht": "2026-03" }),
            "unknown argument monht; did you mean month?",
        ),
    ] {
        let params = json!({ "name": "payroll_control", "arguments": arguments });
        let error = owner.rpc("prompts/get", params).json()["error"].clone();
        assert_eq!(error, json!({ "code": -32602, "message": said }));
    }
    let nameless = owner.rpc("prompts/get", json!({})).json();
    assert_eq!(nameless["error"]["message"], "prompts/get needs the name of a prompt");
}

/// What completes an argument of the control of payroll.
fn complete(client: &Client, argument: &str, typed: &str, context: &Value) -> Value {
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "payroll_control" },
        "argument": { "name": argument, "value": typed },
        "context": { "arguments": context },
    });
    client.rpc("completion/complete", params).json()["result"]["completion"].clone()
}

fn completion_finds_mandates_and_employees_by_name_within_reach(world: &World) {
    let officer = world.client("leman", "payroll_officer");
    let everything = json!({ "limit": 100 });
    let reached = officer.ask("search_mandates", everything.clone());
    let nothing = json!({});
    let none = json!({ "values": [], "total": 0, "hasMore": false });
    assert_eq!(complete(&officer, "mandate_id", "", &nothing)["total"], reached["total"]);
    for mandate in reached["items"].as_array().unwrap().iter().take(5) {
        for typed in [&mandate["number"], &mandate["title"]] {
            let typed = typed.as_str().unwrap().to_lowercase();
            let found = complete(&officer, "mandate_id", &typed, &nothing);
            assert!(found["values"].as_array().unwrap().contains(&mandate["id"]), "{typed}");
        }
    }
    let all = world.owner().ask("search_mandates", everything);
    let is_hidden = |one: &&Value| !reached["items"].as_array().unwrap().contains(one);
    let hidden = all["items"].as_array().unwrap().iter().find(is_hidden).unwrap();
    let number = hidden["number"].as_str().unwrap();
    assert_eq!(complete(&world.owner(), "mandate_id", number, &nothing)["values"][0], hidden["id"]);
    assert_eq!(complete(&officer, "mandate_id", number, &nothing), none);

    let tool = tools().find(|tool| tool.name() == "list_employees").unwrap();
    let example: Value = serde_json::from_str(&tool.example().unwrap()).unwrap();
    let mandate = json!({ "mandate_id": example["mandate_id"] });
    let owner = world.owner();
    let employed = owner.ask("list_employees", mandate.clone());
    let person = &employed["items"][0];
    let name = format!(
        "{} {}",
        person["last_name"].as_str().unwrap(),
        person["first_name"].as_str().unwrap()
    );
    let of_mandate = complete(&owner, "employee_id", "", &mandate);
    assert_eq!(of_mandate["total"], employed["total"]);
    assert!(
        of_mandate["total"].as_i64()
            < complete(&owner, "employee_id", "", &nothing)["total"].as_i64()
    );
    let found = complete(&owner, "employee_id", &name.to_uppercase(), &nothing);
    assert!(found["values"].as_array().unwrap().contains(&person["id"]), "{name}");
    assert_eq!(complete(&world.client("saentis", "owner"), "employee_id", &name, &mandate), none);

    assert_eq!(complete(&world.client("leman", "accountant"), "mandate_id", "", &nothing), none);
    for unknown in ["month", "period", "client_id", ""] {
        assert_eq!(complete(&owner, unknown, "", &nothing), none, "{unknown}");
    }
}
