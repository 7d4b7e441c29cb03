//! MCP of both eras, as it travels.

use serde_json::{Value, json};

use crate::world::{Answer, Client, World, body_of, modern};

on_both! {
    the_handshake_negotiates_and_advertises_no_inventory,
    each_request_of_the_new_era_says_who_it_is,
    both_eras_get_the_same_lists_and_answers,
    messages_of_the_wrong_form_are_refused_with_the_right_code,
    bodies_and_headers_that_do_not_fit_are_refused,
    notifications_are_accepted_with_an_empty_body,
    arguments_are_read_strictly,
    limits_are_clamped_and_pages_follow_each_other,
    completion_finds_clients_by_words_of_their_name,
}

fn error(answer: &Answer) -> (u16, i64) {
    (answer.status, answer.json()["error"]["code"].as_i64().unwrap_or_default())
}

fn the_handshake_negotiates_and_advertises_no_inventory(world: &World) {
    let anonymous = world.anonymous();
    for (asked, got) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        let params = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let body = body_of("initialize", params).to_string();
        let answer = anonymous.send("/mcp", &[], &body);
        assert_eq!(answer.status, 200, "{asked}");
        assert_eq!(answer.header("mcp-session-id"), "");
        let result = &answer.json()["result"];
        assert_eq!(result["protocolVersion"], got, "{asked}");
        assert_eq!(
            result["capabilities"],
            json!({ "completions": {}, "prompts": {}, "resources": {}, "tools": {} })
        );
        assert_eq!(result["serverInfo"]["name"], "guichet");
        assert_eq!(
            answer.bytes,
            world.owner().send("/mcp", &[], &body).bytes,
            "the same for everybody"
        );
        for tool in guichet::registry::tools().filter(|tool| tool.name() != "who_am_i") {
            assert!(!answer.text().contains(tool.name()), "{}", tool.name());
        }
    }
    let discovered = anonymous.rpc_modern("server/discover", json!({}));
    let result = &discovered.json()["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["cacheScope"], "private");
    for method in
        ["ping", "tools/list", "tools/call", "resources/list", "notifications/initialized", "x"]
    {
        assert_eq!(anonymous.rpc(method, json!({})).status, 401, "{method}");
    }
    for path in ["/mcp/", "/mcp"] {
        assert_eq!(anonymous.get(path).status, 405);
        assert_eq!(world.owner().get(path).header("allow"), "POST, OPTIONS");
        let listed = world.owner().send(path, &[], &body_of("tools/list", json!({})).to_string());
        assert_eq!(listed.status, 200);
    }
    for path in ["//mcp", "/MCP", "/mcp%2f", "/x/../mcp", "/", "/mcp/tools"] {
        assert_eq!(world.owner().send(path, &[], "{}").status, 404, "{path}");
    }
}

fn each_request_of_the_new_era_says_who_it_is(world: &World) {
    let owner = world.owner();
    let good = modern("tools/list", json!({}));
    let version = "mcp-protocol-version";
    let send =
        |headers: &[(&str, &str)], body: &Value| owner.send("/mcp", headers, &body.to_string());
    let is = |headers: &[(&str, &str)], body: &Value, expected: (u16, i64)| {
        assert_eq!(error(&send(headers, body)), expected, "{headers:?} {body}");
    };
    let headers = [(version, "2026-07-28"), ("mcp-method", "tools/list")];
    is(&headers, &good, (200, 0));
    is(&headers, &body_of("tools/list", json!({})), (400, -32602));
    is(&[(version, "2099-01-01")], &body_of("tools/list", json!({})), (400, -32602));
    is(&[("mcp-method", "tools/list")], &good, (400, -32020));
    is(&[(version, "2025-11-25"), ("mcp-method", "tools/list")], &good, (400, -32020));
    is(&[(version, "2026-07-28")], &good, (400, -32020));
    is(&[(version, "2026-07-28"), ("mcp-method", "Tools/List")], &good, (400, -32020));
    let mut other = good.clone();
    other["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    let answer = send(&[(version, "2099-01-01"), ("mcp-method", "tools/list")], &other);
    assert_eq!(error(&answer), (400, -32022));
    assert_eq!(
        answer.json()["error"]["data"],
        json!({ "supported": ["2026-07-28"], "requested": "2099-01-01" })
    );
    for (name, value) in [
        ("io.modelcontextprotocol/clientCapabilities", json!(null)),
        ("io.modelcontextprotocol/clientCapabilities", json!([])),
        ("io.modelcontextprotocol/protocolVersion", json!(7)),
    ] {
        let mut body = good.clone();
        body["params"]["_meta"][name] = value;
        is(&headers, &body, (400, -32602));
    }
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "no/such"] {
        is(
            &[(version, "2026-07-28"), ("mcp-method", method)],
            &modern(method, json!({})),
            (404, -32601),
        );
    }
    let call = modern("tools/call", json!({ "name": "who_am_i", "arguments": {} }));
    let named = |name| [(version, "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", name)];
    is(&named("who_am_i"), &call, (200, 0));
    is(&named("=?base64?d2hvX2FtX2k=?="), &call, (200, 0));
    is(&named("=?base64?!!?="), &call, (400, -32020));
    is(&named("ping_tool"), &call, (400, -32020));
    is(&named("WHO_AM_I"), &call, (400, -32020));
    is(&[(version, "2026-07-28"), ("mcp-method", "tools/call")], &call, (400, -32020));
}

fn both_eras_get_the_same_lists_and_answers(world: &World) {
    let owner = world.owner();
    for (method, member) in [
        ("tools/list", "tools"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        let legacy = owner.rpc(method, json!({})).json();
        let new = owner.rpc_modern(method, json!({})).json();
        assert_eq!(legacy["result"][member], new["result"][member]);
        assert!(legacy["result"].get("resultType").is_none());
        let result = &new["result"];
        assert_eq!(
            (&result["resultType"], &result["cacheScope"]),
            (&json!("complete"), &json!("private"))
        );
        assert!(result["ttlMs"].is_u64());
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "guichet");
        assert_eq!(error(&owner.rpc(method, json!({ "cursor": "x" }))), (200, -32602));
    }
    let unknown = owner.rpc_modern("tools/call", json!({ "name": "no_such", "arguments": {} }));
    assert_eq!(error(&unknown), (200, -32602));
    assert_eq!(error(&owner.rpc("tools/call", json!({ "name": "no_such" }))), (200, -32602));
    assert_eq!(error(&owner.rpc("no/such", json!({}))), (200, -32601));
    let missing = json!({ "uri": "guichet://nothing" });
    assert_eq!(error(&owner.rpc("resources/read", missing.clone())), (200, -32002));
    assert_eq!(error(&owner.rpc_modern("resources/read", missing)), (200, -32602));
    assert_eq!(owner.rpc("ping", json!({})).json()["result"], json!({}));
}

fn messages_of_the_wrong_form_are_refused_with_the_right_code(world: &World) {
    let owner = world.owner();
    let deep = |levels: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{}{}}}}}"#,
            "[".repeat(levels),
            "]".repeat(levels)
        )
    };
    for (body, expected) in [
        (String::new(), (400, -32700)),
        ("not JSON".into(), (400, -32700)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping""#.into(), (400, -32700)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#.into(), (400, -32700)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#.into(), (400, -32700)),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#.into(), (400, -32700)),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\u0000"}}"#.into(),
            (400, -32700),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\ud800"}}"#.into(),
            (400, -32700),
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1e999}}"#.into(), (400, -32700)),
        (deep(40), (400, -32700)),
        (deep(100_000), (400, -32700)),
        (format!("[{}1]", "1,".repeat(20_000)), (400, -32700)),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#.into(), (400, -32600)),
        ("[]".into(), (400, -32600)),
        ("7".into(), (400, -32600)),
        ("null".into(), (400, -32600)),
        (r#"{"id":1,"method":"ping"}"#.into(), (400, -32600)),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#.into(), (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.into(), (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#.into(), (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#.into(), (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#.into(), (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":1}"#.into(), (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.into(), (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#.into(), (200, -32602)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#.into(), (200, -32602)),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#.into(),
            (200, -32602),
        ),
    ] {
        assert_eq!(error(&owner.post(&body)), expected, "{}", body.get(..90).unwrap_or(&body));
    }
}

fn bodies_and_headers_that_do_not_fit_are_refused(world: &World) {
    let owner = world.owner();
    let ping = r#"{"jsonrpc":"2.0","id":"a\"b","method":"ping"}"#;
    assert_eq!(owner.post(ping).json()["id"], "a\"b");
    for (name, value, status) in [
        ("content-type", "text/plain", 415),
        ("content-type", "application/json; charset=utf-16", 415),
        ("content-type", "application/json; charset=UTF-8", 200),
        ("content-encoding", "gzip", 415),
        ("origin", "http://evil.example", 403),
        ("origin", "null", 403),
        ("origin", "http://localhost:3000", 200),
        ("mcp-session-id", "stolen", 200),
    ] {
        assert_eq!(owner.send("/mcp", &[(name, value)], ping).status, status, "{name}: {value}");
    }
    let large = |bytes: usize| {
        let frame = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":""}}"#.len();
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":"{}"}}}}"#,
            "x".repeat(bytes - frame)
        )
    };
    assert_eq!(owner.post(&large(256 * 1024)).status, 200);
    assert_eq!(owner.post(&large(256 * 1024 + 1)).status, 413);
    assert_eq!(world.anonymous().post(&large(64 * 1024)).status, 401);
    assert_eq!(world.anonymous().post(&large(64 * 1024 + 1)).status, 413);
}

fn notifications_are_accepted_with_an_empty_body(world: &World) {
    let owner = world.owner();
    for method in ["notifications/initialized", "notifications/cancelled", "tools/call"] {
        let body = json!({ "jsonrpc": "2.0", "method": method, "params": { "name": "who_am_i" } });
        let answer = owner.post(&body.to_string());
        assert_eq!((answer.status, answer.bytes.len()), (202, 0), "{method}");
    }
    let body = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" }).to_string();
    assert_eq!(owner.send("/mcp", &[("mcp-protocol-version", "2026-07-28")], &body).status, 202);
}

/// Tool, arguments, the field at fault, and what is said of it.
const STRICT: &[(&str, &str, &str, &str)] = &[
    (
        "list_open_items",
        r#"{"clinet_id":null}"#,
        "clinet_id",
        "unknown argument clinet_id; did you mean client_id?",
    ),
    (
        "list_open_items",
        r#"{"tenant_id":"x"}"#,
        "tenant_id",
        "unknown argument tenant_id; did you mean client_id?",
    ),
    ("who_am_i", r#"{"role":"owner"}"#, "role", "unknown argument role; this takes none"),
    ("list_open_items", r#"{"limit":"20"}"#, "limit", "limit must be an integer, not a string"),
    (
        "list_open_items",
        r#"{"limit":1e2}"#,
        "limit",
        "limit must be an integer, not a number with decimals",
    ),
    (
        "list_open_items",
        r#"{"limit":true}"#,
        "limit",
        "limit must be an integer, not true or false",
    ),
    (
        "get_cash_forecast",
        r#"{"mandate_id":"01912345-0000-7000-8000-123456789abc","weeks":"4"}"#,
        "weeks",
        "weeks must be an integer, not a string",
    ),
    (
        "get_vat_return",
        r#"{"mandate_id":"01912345-0000-7000-8000-123456789abc","year":2025,"quarter":-1}"#,
        "quarter",
        "quarter must be an integer, not one below 0 or out of range",
    ),
    (
        "search_clients",
        r#"{"status":1}"#,
        "status",
        "status must be one of the words that its schema lists",
    ),
    ("list_open_items", r#"{"limit":0}"#, "limit", "limit must be from 1 to 100"),
    ("list_open_items", r#"{"limit":-5}"#, "limit", "limit must be from 1 to 100"),
    ("list_open_items", r#"{"limit":[20]}"#, "limit", "limit must be an integer, not a list"),
    (
        "list_open_items",
        r#"{"currency":"JPY"}"#,
        "currency",
        "currency must be one of CHF, EUR, USD, GBP",
    ),
    (
        "list_open_items",
        r#"{"as_of":"31.12.2026"}"#,
        "as_of",
        "as_of: invalid day, expected YYYY-MM-DD from 1900 to 2199",
    ),
    (
        "list_open_items",
        r#"{"as_of":"2026-02-30"}"#,
        "as_of",
        "as_of: invalid day, expected YYYY-MM-DD from 1900 to 2199",
    ),
    (
        "list_open_items",
        r#"{"min_days_overdue":0}"#,
        "min_days_overdue",
        "min_days_overdue must be from 1 to 36500",
    ),
    (
        "list_open_items",
        r#"{"cursor":"abc"}"#,
        "cursor",
        "unknown cursor; repeat the call without one, or with the arguments it came from",
    ),
    (
        "search_invoices",
        r#"{"amount_min":1.005}"#,
        "amount_min",
        "amount_min: invalid amount, expected a number with at most 2 decimals",
    ),
    (
        "search_invoices",
        r#"{"amount_min":"1"}"#,
        "amount_min",
        "amount_min: invalid amount, expected a number with at most 2 decimals",
    ),
    (
        "search_invoices",
        r#"{"amount_min":2,"amount_max":1}"#,
        "amount_max",
        "amount_max (1.00) is below amount_min (2.00)",
    ),
    (
        "search_invoices",
        r#"{"from":"2026-02-01","to":"2026-01-01"}"#,
        "to",
        "to (2026-01-01) is before from (2026-02-01)",
    ),
    ("get_client", "{}", "client_id", "argument client_id is required"),
    ("get_client", r#"{"client_id":null}"#, "client_id", "client_id must be a string, not null"),
    ("list_open_items", "[]", "arguments", "arguments must be an object, not a list"),
    ("list_open_items", "\"x\"", "arguments", "arguments must be an object, not a string"),
    (
        "list_payslips",
        r#"{"mandate_id":"01912345-0000-7000-8000-123456789abc","month":13}"#,
        "month",
        "month must be from 1 to 12",
    ),
];

fn arguments_are_read_strictly(world: &World) {
    let owner = world.owner();
    let call = |tool: &str, arguments: &str| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        );
        owner.post(&body).refusal()
    };
    for (tool, arguments, field, message) in STRICT {
        let refusal = call(tool, arguments);
        assert_eq!(refusal["message"], *message, "{tool} {arguments}");
        assert_eq!(refusal["field"], *field, "{tool} {arguments}");
        assert_eq!(refusal["code"], "invalid_argument");
    }
    let long = json!({ "query": "x".repeat(201) });
    assert_eq!(owner.call("search_clients", long).refusal()["field"], "query");
    let refusal = owner
        .call("get_invoice", json!({ "invoice_id": "01912345-0000-7000-8000-123456789abc" }))
        .refusal();
    assert_eq!(refusal, json!({ "code": "not_found", "message": "invoice not found" }));
}

/// Every page of a list, from the first to the last.
fn pages(client: &Client, tool: &str, mut arguments: Value) -> (Vec<String>, i64) {
    let (mut ids, mut total) = (vec![], None);
    loop {
        let page = client.ask(tool, arguments.clone());
        let count = page["total"].as_i64().unwrap();
        assert_eq!(*total.get_or_insert(count), count);
        for item in page["items"].as_array().unwrap() {
            let id = item.get("id").or(item.get("invoice_id")).unwrap();
            ids.push(id.as_str().unwrap().to_owned());
        }
        assert_eq!(page["truncated"], page.get("next_cursor").is_some());
        match page.get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => return (ids, total.unwrap()),
        }
    }
}

fn limits_are_clamped_and_pages_follow_each_other(world: &World) {
    let owner = world.owner();
    for tool in
        ["search_clients", "search_mandates", "search_invoices", "list_open_items", "list_services"]
    {
        let (ids, total) = pages(&owner, tool, json!({ "limit": 7 }));
        assert_eq!(i64::try_from(ids.len()).unwrap(), total, "{tool}");
        let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len(), "{tool}");
        let (whole, _) = pages(&owner, tool, json!({ "limit": 100 }));
        assert_eq!(whole, ids, "{tool}: the order does not depend on the page");
        let page = owner.ask(tool, json!({ "limit": 5000 }));
        assert_eq!(page["limit"], 100, "{tool}");
        assert_eq!(page["note"], "limit 5000 was reduced to 100", "{tool}");
        assert!(owner.call(tool, json!({ "limit": 100 })).bytes.len() < 100_000, "{tool}");
        let first = owner.ask(tool, json!({ "limit": 2 }));
        let cursor = &first["next_cursor"];
        let of_other = if tool == "search_clients" { "search_mandates" } else { "search_clients" };
        let refused = |client: &Client, tool: &str, arguments: Value| {
            assert_eq!(client.call(tool, arguments).refusal()["field"], "cursor");
        };
        refused(&owner, of_other, json!({ "cursor": cursor }));
        refused(&owner, tool, json!({ "cursor": format!("{}A", cursor.as_str().unwrap()) }));
        refused(&world.client("saentis", "owner"), tool, json!({ "cursor": cursor }));
        refused(&world.client("leman", "auditor"), tool, json!({ "cursor": cursor }));
    }
    let first = owner.ask("search_clients", json!({ "limit": 2 }));
    let other = json!({ "cursor": first["next_cursor"], "status": "active" });
    assert_eq!(owner.call("search_clients", other).refusal()["field"], "cursor", "other filters");
}

fn completion_finds_clients_by_words_of_their_name(world: &World) {
    let owner = world.owner();
    let complete = |client: &Client, value: &str| {
        let params = json!({
            "ref": { "type": "ref/resource", "uri": "guichet://clients/{id}" },
            "argument": { "name": "id", "value": value },
        });
        client.rpc("completion/complete", params).json()["result"]["completion"].clone()
    };
    let all = complete(&owner, "");
    assert_eq!(all["values"].as_array().unwrap().len(), 20);
    assert_eq!(all["hasMore"], true);
    let first = owner.ask("search_clients", json!({ "limit": 1 }))["items"][0].clone();
    let found = complete(&owner, first["name"].as_str().unwrap());
    assert!(found["values"].as_array().unwrap().contains(&first["id"]));
    let of_other = complete(&world.client("saentis", "owner"), first["name"].as_str().unwrap());
    assert_eq!(of_other["total"], 0);
    let nothing = owner.rpc("completion/complete", json!({ "ref": { "type": "ref/prompt", "name": "x" }, "argument": { "name": "a", "value": "" } }));
    assert_eq!(nothing.json()["result"]["completion"]["values"], json!([]));
}
