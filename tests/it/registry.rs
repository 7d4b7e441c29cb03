//! What holds for every tool.

use std::collections::BTreeSet;

use guichet::registry::{resources, tools};
use serde_json::{Value, json};

use crate::world::{Client, World};

on_both! {
    the_matrix_is_what_was_promised_with_either_credential,
    what_is_listed_can_be_called_and_nothing_else,
    the_list_of_every_role_fits_in_forty_kilobytes,
    every_example_answers_and_fits_its_schema,
    a_foreign_id_an_id_out_of_reach_and_a_random_id_give_the_same_bytes,
    malformed_ids_are_refused_by_name,
    no_answer_holds_a_word_of_the_other_firm,
    resources_stand_behind_the_same_guard_as_tools,
    the_enumerations_are_those_of_the_schemas_of_ones_own_tools,
}

/// The checked-in table: tool, then yes or no per role.
fn matrix() -> (Vec<&'static str>, Vec<(&'static str, Vec<bool>)>) {
    let mut lines = include_str!("matrix.txt").lines().filter(|line| !line.starts_with('#'));
    let roles = lines.next().unwrap().split_whitespace().skip(1).collect();
    let row = |line: &'static str| {
        let mut words = line.split_whitespace();
        (words.next().unwrap(), words.map(|word| word == "yes").collect())
    };
    (roles, lines.map(row).collect())
}

/// A client of a role with a JSON Web Token.
fn signed_in(world: &World, firm: &str, role: &str) -> Client {
    let person = world.person(firm, role);
    let body = json!({ "email": person.email, "password": person.password, "tenant": firm });
    let answer = world.anonymous().send("/auth/token", &[], &body.to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    world.bearer(answer.json()["access_token"].as_str().unwrap())
}

fn the_matrix_is_what_was_promised_with_either_credential(world: &World) {
    let (roles, rows) = matrix();
    let named: BTreeSet<_> = rows.iter().map(|(tool, _)| *tool).collect();
    assert_eq!(named, tools().map(guichet::registry::Tool::name).collect(), "every tool has a row");
    for (at, role) in roles.iter().enumerate() {
        let promised: BTreeSet<String> =
            rows.iter().filter(|(_, may)| may[at]).map(|(tool, _)| (*tool).to_owned()).collect();
        for client in [world.client("leman", role), signed_in(world, "leman", role)] {
            let listed: BTreeSet<String> = client.listed().into_iter().collect();
            assert_eq!(listed, promised, "{role}");
        }
    }
}

fn what_is_listed_can_be_called_and_nothing_else(world: &World) {
    for role in matrix().0 {
        let client = world.client("saentis", role);
        let listed = client.listed();
        let unknown = client.call("no_such_tool", json!({})).bytes;
        for tool in tools() {
            let answer = client.call(tool.name(), json!({ "no_such_argument": 1 }));
            if listed.iter().any(|name| name == tool.name()) {
                assert_eq!(answer.refusal()["field"], "no_such_argument", "{role} {}", tool.name());
            } else {
                assert_eq!(answer.bytes, unknown, "{role} {}", tool.name());
            }
        }
    }
}

fn the_list_of_every_role_fits_in_forty_kilobytes(world: &World) {
    for role in matrix().0 {
        let list = world.client("leman", role).rpc("tools/list", json!({}));
        assert!(list.bytes.len() < 40_000, "{role}: {} bytes", list.bytes.len());
    }
}

/// The example of a tool; a handle, which a report must have given, is one of the first firm's owner.
fn example(world: &World, tool: &guichet::registry::Tool) -> Value {
    let mut example: Value = serde_json::from_str(&tool.example().unwrap()).unwrap();
    example.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    if example.get("figure").is_some() {
        let balance = tools().find(|tool| tool.name() == "get_trial_balance").unwrap();
        let balance = world.owner().ask(balance.name(), self::example(world, balance));
        example["figure"] = balance["rows"][0]["figure"].clone();
    }
    example
}

fn every_example_answers_and_fits_its_schema(world: &World) {
    let owner = world.owner();
    for tool in tools() {
        let example = example(world, tool);
        let answer = owner.ask(tool.name(), example.clone());
        assert!(!answer.to_string().contains(":null"), "{}: {answer}", tool.name());
        let described = tool.describe();
        for schema in [&described["outputSchema"], tool.answer_schema().as_value()] {
            let validator = jsonschema::validator_for(schema).unwrap();
            let wrong: Vec<_> = validator.iter_errors(&answer).map(|e| e.to_string()).collect();
            assert!(wrong.is_empty(), "{}: {wrong:?}", tool.name());
        }
        let input = jsonschema::validator_for(&described["inputSchema"]).unwrap();
        assert!(input.is_valid(&example), "{}", tool.name());
        let modern =
            owner.rpc_modern("tools/call", json!({ "name": tool.name(), "arguments": example }));
        assert_eq!(modern.content(), answer, "{}", tool.name());
    }
}

/// Ids that the person with this e-mail address in the first firm must not reach: three of each kind of the other firm, and
/// three of each kind of their own.
fn hidden_ids(world: &World, email: &str) -> Vec<String> {
    let hex = if world.database.is_postgres() { "x.id::text" } else { "hex(x.id)" };
    let firm = |slug| format!("(SELECT id FROM tenants WHERE slug = '{slug}')");
    let reached = format!(
        "(SELECT r.mandate_id FROM reach r JOIN users u ON u.id = r.user_id WHERE u.email = '{email}' AND r.tenant_id = {})",
        firm("leman")
    );
    let reached_clients = format!("(SELECT m.client_id FROM mandates m WHERE m.id IN {reached})");
    let out_of_reach = [
        ("clients", format!("x.id NOT IN {reached_clients}")),
        ("mandates", format!("x.id NOT IN {reached}")),
        ("invoices", format!("x.mandate_id NOT IN {reached}")),
        ("employees", format!("x.mandate_id NOT IN {reached}")),
        ("payslips", format!("x.mandate_id NOT IN {reached}")),
        ("project_positions", format!("x.mandate_id NOT IN {reached}")),
        ("knowledge_entities", format!("x.mandate_id NOT IN {reached}")),
    ];
    let mut hidden = vec![];
    for (table, condition) in out_of_reach {
        let foreign = format!("x.tenant_id = {}", firm("saentis"));
        let own = format!("x.tenant_id = {} AND {condition}", firm("leman"));
        for which in [foreign, own] {
            let query =
                format!("SELECT {hex} FROM {table} x WHERE {which} ORDER BY x.id DESC LIMIT 3");
            let rows = world.query(&query);
            hidden.extend(rows.iter().map(|row| row[0].parse::<uuid::Uuid>().unwrap().to_string()));
        }
    }
    assert!(hidden.len() > 20, "{}", hidden.len());
    hidden
}

/// The names of the arguments that are ids.
fn id_arguments(tool: &guichet::registry::Tool) -> Vec<String> {
    let described = tool.describe();
    let properties = described["inputSchema"]["properties"].as_object().unwrap().clone();
    let ids = properties.iter().filter(|(_, schema)| schema["format"] == "uuid");
    ids.map(|(name, _)| name.clone()).collect()
}

fn a_foreign_id_an_id_out_of_reach_and_a_random_id_give_the_same_bytes(world: &World) {
    let random = "01912345-0000-7000-8000-123456789abc";
    let mut compared = 0;
    for role in ["accountant", "payroll_officer", "auditor"] {
        let person = world.person("leman", role);
        let hidden = hidden_ids(world, &person.email);
        let client = world.bearer(&person.token);
        let listed = client.listed();
        for tool in tools().filter(|tool| listed.iter().any(|name| name == tool.name())) {
            for argument in id_arguments(tool) {
                let ask = |id: &str| {
                    let mut arguments = example(world, tool);
                    arguments[&argument] = id.into();
                    client.call(tool.name(), arguments)
                };
                let unknown = ask(random);
                for id in &hidden {
                    let answer = ask(id);
                    assert_eq!(
                        answer.text(),
                        unknown.text(),
                        "{role} {} {argument} {id}",
                        tool.name()
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 500, "{compared}");
}

fn malformed_ids_are_refused_by_name(world: &World) {
    let owner = world.owner();
    for tool in tools() {
        for argument in id_arguments(tool) {
            for bad in [
                json!("1"),
                json!(""),
                json!("01912345-0000-7000-8000-123456789ABC"),
                json!("{01912345-0000-7000-8000-123456789abc}"),
                json!("' OR 1=1--"),
                json!(7),
                json!(["01912345-0000-7000-8000-123456789abc"]),
                json!({ "id": 1 }),
            ] {
                let mut arguments = example(world, tool);
                arguments[&argument] = bad.clone();
                let refusal = owner.call(tool.name(), arguments).refusal();
                assert_eq!(refusal["field"], argument.as_str(), "{} {bad}", tool.name());
                assert_eq!(refusal["code"], "invalid_argument");
            }
        }
    }
}

/// The widest call of a tool: its required arguments from the example, and the largest page.
fn widest(world: &World, tool: &guichet::registry::Tool) -> Value {
    let described = tool.describe();
    let example = example(world, tool);
    let mut arguments = json!({});
    for required in described["inputSchema"]["required"].as_array().into_iter().flatten() {
        let name = required.as_str().unwrap();
        arguments[name] = example[name].clone();
    }
    if described["inputSchema"]["properties"].get("limit").is_some() {
        arguments["limit"] = 100.into();
    }
    arguments
}

/// Every text of a firm's demo data carries a word of that firm.
fn no_answer_holds_a_word_of_the_other_firm(world: &World) {
    let canaries = guichet::demo::canaries();
    for (at, firm) in ["leman", "saentis"].iter().enumerate() {
        let (own, foreign) = (&canaries[at], &canaries[1 - at]);
        for role in matrix().0 {
            let client = world.client(firm, role);
            let mut seen = String::new();
            for tool in tools() {
                let mut arguments = widest(world, tool);
                loop {
                    let answer = client.call(tool.name(), arguments.clone());
                    seen += &guichet::text::fold(&answer.text());
                    let page = &answer.json()["result"]["structuredContent"];
                    match page.get("next_cursor") {
                        Some(cursor) => arguments["cursor"] = cursor.clone(),
                        None => break,
                    }
                }
            }
            for resource in resources().filter(|resource| !resource.is_template()) {
                let read = client.rpc("resources/read", json!({ "uri": resource.uri() }));
                seen += &guichet::text::fold(&read.text());
            }
            assert!(seen.contains(own.as_str()), "{firm} {role}");
            assert!(!seen.contains(foreign.as_str()), "{firm} {role}");
        }
    }
}

fn resources_stand_behind_the_same_guard_as_tools(world: &World) {
    for role in matrix().0 {
        let client = world.client("leman", role);
        let list = client.rpc("resources/list", json!({})).json();
        let listed: BTreeSet<String> = list["result"]["resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|resource| resource["uri"].as_str().unwrap().to_owned())
            .collect();
        let unknown = client.rpc("resources/read", json!({ "uri": "guichet://nothing" })).text();
        for resource in resources().filter(|resource| !resource.is_template()) {
            let answer = client.rpc("resources/read", json!({ "uri": resource.uri() }));
            if listed.contains(resource.uri()) {
                let contents = &answer.json()["result"]["contents"][0];
                let text = contents["text"].as_str().unwrap();
                serde_json::from_str::<Value>(text).unwrap();
            } else {
                let unknown = unknown.replace("guichet://nothing", resource.uri());
                assert_eq!(answer.text(), unknown, "{role}");
            }
        }
        let templates = client.rpc("resources/templates/list", json!({})).json();
        let templates = templates["result"]["resourceTemplates"].as_array().unwrap();
        for resource in resources().filter(|resource| resource.is_template()) {
            let is_listed = templates.iter().any(|one| one["uriTemplate"] == resource.uri());
            let is_mine = client.listed().iter().any(|tool| tool == resource.reading().name());
            assert_eq!(is_listed, is_mine, "{role} {}", resource.uri());
        }
    }
    let owner = world.owner();
    let client = owner.ask("search_clients", json!({ "limit": 1 }))["items"][0]["id"].clone();
    let uri = format!("guichet://clients/{}", client.as_str().unwrap());
    let read = owner.rpc("resources/read", json!({ "uri": uri })).json();
    let page: Value =
        serde_json::from_str(read["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(page, owner.ask("get_client", json!({ "client_id": client })));
    let foreign = world.client("saentis", "owner").rpc("resources/read", json!({ "uri": uri }));
    assert_eq!(foreign.json()["error"]["code"], -32002);
}

fn the_enumerations_are_those_of_the_schemas_of_ones_own_tools(world: &World) {
    for role in matrix().0 {
        let client = world.client("leman", role);
        let read = client.rpc("resources/read", json!({ "uri": "guichet://rules/enums" })).json();
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        let page: Value = serde_json::from_str(text).unwrap();
        let told = page["enumerations"].as_array().unwrap();
        let mut expected = BTreeSet::new();
        let list = client.rpc("tools/list", json!({})).json();
        for tool in list["result"]["tools"].as_array().unwrap() {
            for (name, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
                let Some(values) = schema.get("enum") else { continue };
                let argument = json!(format!("{}.{name}", tool["name"].as_str().unwrap()));
                let takes = |one: &&Value| one["arguments"].as_array().unwrap().contains(&argument);
                let one = told.iter().find(takes).unwrap_or_else(|| panic!("{role} {argument}"));
                let words: Vec<_> = one["values"].as_array().unwrap().iter().collect();
                let spelled: Vec<_> = words.iter().map(|word| word["value"].clone()).collect();
                assert_eq!(&json!(spelled), values, "{argument}");
                let is_said = |word: &&Value| !word["meaning"].as_str().unwrap().is_empty();
                assert!(words.iter().all(is_said) && is_said(&one), "{argument}");
                expected.insert(argument.to_string());
            }
        }
        let taken = told.iter().flat_map(|one| one["arguments"].as_array().unwrap());
        assert_eq!(taken.map(ToString::to_string).collect::<BTreeSet<_>>(), expected, "{role}");
        let has = |name: &str| told.iter().any(|one| one["name"] == name);
        assert_eq!(has("payslip_state"), client.listed().iter().any(|tool| tool == "get_payslip"));
    }
}
