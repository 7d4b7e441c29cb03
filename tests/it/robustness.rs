//! Two hundred thousand requests, valid, mutated and hostile: no fault, no panic, no word from the inside.

use guichet::registry::{resources, tools};
use serde_json::{Value, json};

use crate::world::{Client, World, body_of, modern};

on_both! { no_request_brings_the_server_down_or_makes_it_talk }

/// Requests per database.
const REQUESTS: u64 = 100_000;
/// Requests under way at once.
const AT_ONCE: u64 = 8;

/// A small generator of repeatable random numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides).unwrap()).unwrap()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len())]
    }
}

fn hostile(dice: &mut Dice) -> Value {
    let texts = [
        "",
        " ",
        "%",
        "_",
        "\\",
        "' OR '1'='1",
        "'; DROP TABLE clients; --",
        "\" OR \"\"=\"",
        "${jndi:ldap://x}",
        "../../etc/passwd",
        "{{7*7}}",
        "<script>alert(1)</script>",
        "\u{202e}evil",
        "\u{200b}",
        "a\u{301}\u{301}\u{301}",
        "\u{1f600}",
        "ﬁ",
        "İ",
        "ß",
        "\r\nSet-Cookie: x",
        "\u{1}\u{2}",
        "-1",
        "1e309",
        "NaN",
        "null",
        "true",
        "2026-02-30",
        "9999-12-31",
        "0000-00-00",
        "01912345-0000-7000-8000-123456789abc",
        "00000000-0000-0000-0000-000000000000",
        "CHF",
        "chf",
        "invoice",
        "active",
    ];
    match dice.roll(16) {
        0 => json!(null),
        1 => json!(true),
        2 => json!(i64::MAX),
        3 => json!(i64::MIN),
        4 => json!(-1),
        5 => json!(0),
        6 => json!(1.5),
        7 => json!(1e300),
        8 => json!([]),
        9 => json!({}),
        10 => json!([1, "a", null, { "b": [] }]),
        11 => json!("x".repeat(dice.roll(3_000))),
        12 => json!(u64::MAX),
        _ => json!(dice.pick(&texts)),
    }
}

/// Changes something in a request: an argument, a name, a member.
fn mutated(dice: &mut Dice, body: &mut Value) {
    let names = [
        "limit",
        "cursor",
        "query",
        "as_of",
        "client_id",
        "mandate_id",
        "tenant_id",
        "role",
        "purpose",
        "include_sensitive",
        "currency",
        "min_days_overdue",
        "amount_min",
        "\u{0}",
    ];
    let choice = dice.roll(7);
    let value = hostile(dice);
    let Some(params) = body["params"].as_object_mut().filter(|_| choice < 5) else {
        body[if choice == 5 { "params" } else { "method" }] = value;
        return;
    };
    match (choice, params.get_mut("arguments").and_then(Value::as_object_mut)) {
        (0, Some(arguments)) if !arguments.is_empty() => {
            let own: Vec<String> = arguments.keys().cloned().collect();
            arguments.insert(dice.pick(&own).clone(), value);
        }
        (1, Some(arguments)) => drop(arguments.insert((*dice.pick(&names)).to_owned(), value)),
        (2, _) => drop(params.insert("name".to_owned(), value)),
        (3, _) => drop(params.insert("uri".to_owned(), value)),
        _ => drop(params.insert("arguments".to_owned(), value)),
    }
}

fn request(dice: &mut Dice) -> Value {
    let all: Vec<_> = tools().collect();
    let make = if dice.roll(4) == 0 { modern } else { body_of };
    let mut body = match dice.roll(10) {
        0 => make("tools/list", json!({})),
        1 => make(
            "resources/read",
            json!({ "uri": dice.pick(&resources().collect::<Vec<_>>()).uri() }),
        ),
        2 => make(
            "completion/complete",
            json!({ "ref": { "type": "ref/resource", "uri": "guichet://clients/{id}" }, "argument": { "name": "id", "value": "a" } }),
        ),
        3 => make("initialize", json!({ "protocolVersion": "2025-11-25" })),
        _ => {
            let tool = dice.pick(&all);
            let mut arguments: Value = serde_json::from_str(&tool.example().unwrap()).unwrap();
            arguments.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            make("tools/call", json!({ "name": tool.name(), "arguments": arguments }))
        }
    };
    for _ in 0..dice.roll(3) {
        mutated(dice, &mut body);
    }
    body
}

/// Damages the text itself, now and then.
fn damaged(dice: &mut Dice, mut text: Vec<u8>) -> Vec<u8> {
    if dice.roll(6) == 0 && !text.is_empty() {
        let at = dice.roll(text.len());
        match dice.roll(5) {
            0 => text.truncate(at),
            1 => text[at] = u8::try_from(dice.roll(256)).unwrap(),
            2 => text.insert(at, *dice.pick(b"\"\\{}[],:0\xff\x00")),
            3 => text.extend_from_within(at..),
            _ => drop(text.remove(at)),
        }
    }
    text
}

/// Words that only the inside of the server knows.
const INSIDE: &[&str] = &[
    "panicked",
    "diesel",
    "libpq",
    "sqlite_",
    "SELECT ",
    "FROM \"",
    "syntax error",
    "constraint",
    "violates",
    "pg_",
    "search_text",
    "sort_name",
    "tenant_id",
    "src/",
    ".rs:",
    "thread '",
    "RUST_BACKTRACE",
    "internal error",
    "stack backtrace",
    "no such column",
];

fn check(client: &Client, dice: &mut Dice) {
    let body = request(dice);
    let method = body["method"].as_str().unwrap_or_default().to_owned();
    let text = damaged(dice, body.to_string().into_bytes());
    let version = *dice.pick(&["2025-11-25", "2025-03-26", "2026-07-28", "2099-01-01"]);
    let headers = [("mcp-protocol-version", version), ("mcp-method", method.as_str())];
    let headers =
        if method.bytes().all(|b| (32..127).contains(&b)) { &headers[..] } else { &headers[..1] };
    let answer = client.send_bytes("/mcp", headers, &text);
    let said = answer.text();
    assert!(answer.status < 500, "{}: {said}\n{}", answer.status, String::from_utf8_lossy(&text));
    let own: Vec<&&str> = INSIDE.iter().filter(|word| said.contains(**word)).collect();
    let sent = String::from_utf8_lossy(&text);
    let leaked: Vec<_> = own.into_iter().filter(|word| !sent.contains(**word)).collect();
    assert!(leaked.is_empty(), "{leaked:?}: {said}\n{sent}");
    assert!(answer.bytes.len() < 100_000, "{}", answer.bytes.len());
}

fn no_request_brings_the_server_down_or_makes_it_talk(world: &World) {
    std::thread::scope(|threads| {
        for thread in 0..AT_ONCE {
            threads.spawn(move || {
                let roles = ["owner", "accountant", "payroll_officer", "client_user"];
                let clients = roles.map(|role| world.client("leman", role));
                let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (thread + 1));
                for _ in 0..REQUESTS / AT_ONCE {
                    let client = clients[dice.roll(clients.len())].clone();
                    check(&client, &mut dice);
                }
            });
        }
    });
    world.owner().ask("who_am_i", json!({}));
}
