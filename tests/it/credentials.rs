//! Who is calling: what is taken, what is refused, and that all of it acts on the very next request.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::world::{Answer, Client, SECRETS, World};

on_both! {
    every_bad_token_gets_the_same_401,
    a_claim_that_is_not_ours_is_refused,
    times_are_checked_to_five_seconds,
    both_headers_and_both_forms_are_taken,
    what_is_switched_off_is_refused_on_the_next_request,
    a_deactivation_reaches_every_open_connection,
    a_changed_role_or_reach_applies_to_the_next_request,
    scopes_intersect_at_use,
    a_token_ends_when_it_says_and_whoever_holds_it_may_end_it,
    an_old_key_verifies_until_it_is_gone,
    no_secret_is_at_rest,
    the_last_use_is_written_down,
}

fn base64(text: &str) -> String {
    BASE64.encode(text)
}

/// A token of our making, signed with `secret`.
fn forged(secret: &[u8], header: &str, claims: &str) -> String {
    let message = format!("{}.{}", base64(header), base64(claims));
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    mac.update(message.as_bytes());
    format!("{message}.{}", BASE64.encode(mac.finalize().into_bytes()))
}

/// The parts of a good token of the first firm's owner: header, claims.
fn good(world: &World) -> (Value, Value, String) {
    let person = world.person("leman", "owner");
    let body = json!({ "email": person.email, "password": person.password, "tenant": "leman" });
    let answer = world.anonymous().send("/auth/token", &[], &body.to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let token = answer.json()["access_token"].as_str().unwrap().to_owned();
    let part = |at| {
        let part = token.split('.').nth(at).unwrap();
        serde_json::from_slice(&BASE64.decode(part).unwrap()).unwrap()
    };
    (part(0), part(1), token)
}

fn ping(client: &Client) -> Answer {
    client.rpc("ping", json!({}))
}

fn try_token(world: &World, token: &str) -> Answer {
    ping(&world.bearer(token))
}

/// The one refusal, without the date.
fn refusal(answer: &Answer) -> (u16, Vec<u8>, BTreeSet<(String, String)>) {
    let headers = answer.headers.iter().filter(|(name, _)| *name != "date");
    let headers = headers.map(|(n, v)| (n.to_string(), v.to_str().unwrap().to_owned())).collect();
    (answer.status, answer.bytes.clone(), headers)
}

fn every_bad_token_gets_the_same_401(world: &World) {
    let (header, claims, token) = good(world);
    assert_eq!(try_token(world, &token).status, 200);
    let (header, claims) = (header.to_string(), claims.to_string());
    let secret = &SECRETS[0];
    assert_eq!(try_token(world, &forged(secret, &header, &claims)).status, 200);
    let kid = serde_json::from_str::<Value>(&header).unwrap()["kid"].clone();
    let with = |change: Value| {
        let mut header = json!({ "typ": "at+jwt", "alg": "HS256", "kid": kid });
        header.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        forged(secret, &header.to_string(), &claims)
    };
    let unsigned = |alg: &str| {
        format!(
            "{}.{}.",
            base64(&json!({ "alg": alg, "typ": "at+jwt", "kid": kid }).to_string()),
            base64(&claims)
        )
    };
    let parts: Vec<&str> = token.split('.').collect();
    let flipped = |at: usize| {
        let mut bytes = token.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    let owner = world.person("leman", "owner").token;
    let bad = [
        unsigned("none"),
        unsigned("NoNe"),
        unsigned("HS256"),
        with(json!({ "alg": "HS512" })),
        with(json!({ "alg": "RS256" })),
        with(json!({ "alg": null })),
        with(json!({ "typ": "JWT" })),
        with(json!({ "typ": "refresh+jwt" })),
        with(json!({ "typ": null })),
        with(json!({ "kid": "../../dev/null" })),
        with(json!({ "kid": "' OR 1=1--" })),
        with(json!({ "kid": "x".repeat(10_000) })),
        with(json!({ "kid": null })),
        with(json!({ "crit": ["exp"] })),
        with(json!({ "jwk": { "kty": "oct", "k": "AAAA" }, "kid": "0" })),
        forged(&[1; 32], &header, &claims),
        forged(secret, &header, "[]"),
        forged(secret, &header, "{}"),
        format!("{}.{}", parts[0], parts[1]),
        format!("{token}.{}", parts[2]),
        format!("{token}="),
        flipped(token.len() - 1),
        flipped(5),
        "x".repeat(100_000),
        "nonsense".to_owned(),
        "gct_".to_owned(),
        format!("{owner}0"),
        owner.replace("gct_", "gct_0").chars().take(53).collect(),
        guichet::auth::api_token::ApiToken::from_secret(&[1; 32]).reveal().to_owned(),
    ];
    are_refused_alike(world, &bad);
}

/// Each token gets the refusal of the others, which says how to authenticate.
fn are_refused_alike(world: &World, bad: &[String]) {
    let expected = refusal(&try_token(world, "x"));
    assert_eq!(expected.0, 401);
    for token in bad.iter().filter(|token| token.len() < 8_000) {
        assert_eq!(
            refusal(&try_token(world, token)),
            expected,
            "{}",
            token.get(..80).unwrap_or(token)
        );
    }
    let body = String::from_utf8(expected.1).unwrap();
    for said in ["Authorization: Bearer <jwt>", "Authorization: Token <api_token>"] {
        assert!(body.contains(&said.replace('"', "\\\"")), "{body}");
    }
    assert_eq!(ping(&world.anonymous()).header("www-authenticate"), "Bearer");
    assert!(try_token(world, "x").header("www-authenticate").starts_with("Bearer error="));
}

fn a_claim_that_is_not_ours_is_refused(world: &World) {
    let (header, claims, _) = good(world);
    let audience = claims["aud"].clone();
    let other = world.query("SELECT CAST(count(*) AS TEXT) FROM users");
    assert!(!other.is_empty());
    for (claim, value) in [
        ("aud", json!("https://elsewhere.example/mcp")),
        ("aud", json!("")),
        ("aud", json!(null)),
        ("aud", json!(["https://elsewhere.example/mcp", audience])),
        ("aud", json!([audience])),
        ("aud", json!(format!("{}/", audience.as_str().unwrap()))),
        ("iss", json!("https://elsewhere.example")),
        ("iss", json!([claims["iss"]])),
        ("iss", json!(null)),
        ("sub", json!("not an id")),
        ("sub", json!("01912345-0000-7000-8000-123456789abc")),
        ("tid", json!("01912345-0000-7000-8000-123456789abc")),
        ("tid", json!(null)),
        ("ver", json!(99)),
        ("ver", json!("0")),
        ("exp", json!(null)),
        ("exp", json!("2099-01-01")),
        ("exp", json!(1e12)),
        ("exp", json!(-1)),
        ("exp", json!(9_999_999_999_i64)),
        ("nbf", json!("soon")),
        ("role", json!("owner")),
    ] {
        let mut claims = claims.clone();
        claims[claim] = value.clone();
        let token = forged(&SECRETS[0], &header.to_string(), &claims.to_string());
        assert_eq!(try_token(world, &token).status, 401, "{claim} {value}");
    }
    for claim in ["iss", "aud", "sub", "tid", "ver", "exp", "nbf", "iat", "jti"] {
        let mut claims = claims.clone();
        claims.as_object_mut().unwrap().remove(claim);
        let token = forged(&SECRETS[0], &header.to_string(), &claims.to_string());
        assert_eq!(try_token(world, &token).status, 401, "without {claim}");
    }
    let twice = claims.to_string().replacen('{', r#"{"exp":9999999999,"#, 1);
    assert_eq!(try_token(world, &forged(&SECRETS[0], &header.to_string(), &twice)).status, 401);
}

fn times_are_checked_to_five_seconds(world: &World) {
    let (header, claims, _) = good(world);
    let now = world.now.unix_seconds();
    for (issued, not_before, expires, status) in [
        (now - 100, now - 100, now - 4, 200),
        (now - 100, now - 100, now - 6, 401),
        (now + 4, now + 4, now + 300, 200),
        (now + 6, now, now + 300, 401),
        (now, now + 6, now + 300, 401),
        (now, now, now + 601, 401),
        (now, now, i64::MAX, 401),
        (i64::MIN, now, now + 1, 401),
    ] {
        let mut claims = claims.clone();
        claims["iat"] = issued.into();
        claims["nbf"] = not_before.into();
        claims["exp"] = expires.into();
        let token = forged(&SECRETS[0], &header.to_string(), &claims.to_string());
        let answer = try_token(world, &token);
        assert_eq!(answer.status, status, "{issued} {not_before} {expires}");
    }
}

fn both_headers_and_both_forms_are_taken(world: &World) {
    let token = world.person("leman", "owner").token;
    let (_, _, jwt) = good(world);
    let anonymous = world.anonymous();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let status = |value: &str| anonymous.send("/mcp", &[("authorization", value)], body).status;
    for good in [
        format!("Token {token}"),
        format!("token {token}"),
        format!("TOKEN  {token}"),
        format!("Bearer {token}"),
        format!("bearer {token}"),
        format!("Bearer {jwt}"),
    ] {
        assert_eq!(status(&good), 200, "{good}");
    }
    for bad in [
        format!("Token {jwt}"),
        format!("Basic {token}"),
        token.clone(),
        format!("Bearer {token} {token}"),
        format!("Bearer {token},Bearer {token}"),
        format!("Bearer\t{token}"),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
    ] {
        assert_eq!(status(&bad), 401, "{bad}");
    }
    let good = format!("Bearer {token}");
    let twice = [("authorization", good.as_str()), ("authorization", good.as_str())];
    assert_eq!(anonymous.send("/mcp", &twice, body).status, 400);
    for query in [format!("?access_token={token}"), format!("?x={token}"), format!("?token={jwt}")]
    {
        let answer = anonymous.send(&format!("/mcp{query}"), &[], body);
        assert_eq!(answer.status, 400, "{query}");
        assert!(!answer.text().contains(&token));
    }
    let cookie = [("cookie", "session=1")];
    assert_eq!(anonymous.send("/mcp", &cookie, body).status, 401);
}

/// Switches `off` and back `on`, and sees what the two credentials of the owner get in between.
fn switched(world: &World, off: &str, on: &str, is_token_only: bool) {
    let (_, _, jwt) = good(world);
    let clients = [world.owner(), world.bearer(&jwt)];
    assert!(clients.iter().all(|client| ping(client).status == 200));
    world.sql(off);
    assert_eq!(ping(&clients[0]).status, 401, "{off}");
    assert_eq!(ping(&clients[1]).status, if is_token_only { 200 } else { 401 }, "{off}");
    world.sql(on);
    assert!(clients.iter().all(|client| ping(client).status == 200), "{on}");
}

fn truth(world: &World, value: bool) -> &'static str {
    match (world.database.is_postgres(), value) {
        (true, true) => "TRUE",
        (true, false) => "FALSE",
        (false, true) => "1",
        (false, false) => "0",
    }
}

fn what_is_switched_off_is_refused_on_the_next_request(world: &World) {
    let (on, off) = (truth(world, true), truth(world, false));
    let email = world.person("leman", "owner").email;
    for (table, only) in [("tenants", ""), ("users", ""), ("memberships", "")] {
        let set = |value| format!("UPDATE {table} SET is_active = {value} {only}");
        let was_inactive: Vec<String> = world
            .query(&format!("SELECT CAST(count(*) AS TEXT) FROM {table} WHERE is_active = {off}"))
            .concat();
        switched(world, &set(off), &set(on), false);
        assert_eq!(was_inactive.len(), 1);
    }
    let revoke = "UPDATE api_tokens SET revoked_at = '2026-01-01T00:00:00.000000Z'";
    switched(world, revoke, "UPDATE api_tokens SET revoked_at = NULL", true);
    let older =
        format!("UPDATE users SET token_version = token_version + 1 WHERE email = '{email}'");
    let (_, _, jwt) = good(world);
    world.sql(&older);
    assert_eq!(try_token(world, &jwt).status, 401, "a changed password ends the tokens before it");
    assert_eq!(ping(&world.owner()).status, 200, "API tokens end by revocation");
}

/// Thirty-two connections that are kept, each in the middle of its work.
fn a_deactivation_reaches_every_open_connection(world: &World) {
    let clients: Vec<Client> = (0..32).map(|_| world.owner()).collect();
    let (answered, switched_off) = (std::sync::Barrier::new(33), std::sync::Barrier::new(33));
    std::thread::scope(|threads| {
        for client in &clients {
            threads.spawn(|| {
                (0..5).for_each(|_| assert_eq!(ping(client).status, 200));
                answered.wait();
                switched_off.wait();
                (0..5).for_each(|_| assert_eq!(ping(client).status, 401));
            });
        }
        answered.wait();
        world.sql(&format!("UPDATE memberships SET is_active = {}", truth(world, false)));
        switched_off.wait();
    });
}

fn a_changed_role_or_reach_applies_to_the_next_request(world: &World) {
    let person = world.person("leman", "accountant");
    let accountant = world.bearer(&person.token);
    let user = format!("(SELECT id FROM users WHERE email = '{}')", person.email);
    let total = || accountant.ask("search_mandates", json!({}))["total"].as_i64().unwrap();
    let before = total();
    assert!(before > 0);
    world.sql(&format!("DELETE FROM reach WHERE user_id = {user}"));
    assert_eq!(total(), 0, "no mandate reads nothing, not everything");
    assert_eq!(accountant.ask("search_clients", json!({}))["total"], 0);
    assert_eq!(accountant.ask("search_invoices", json!({}))["total"], 0);
    world.sql(&format!("UPDATE memberships SET reach = 'all' WHERE user_id = {user}"));
    assert!(total() > before);
    assert!(accountant.listed().contains(&"search_invoices".to_owned()));
    world.sql(&format!("UPDATE memberships SET role = 'payroll_officer' WHERE user_id = {user}"));
    assert!(!accountant.listed().contains(&"search_invoices".to_owned()));
    world.sql("DELETE FROM role_permissions WHERE permission = 'client.read'");
    assert!(!accountant.listed().contains(&"search_clients".to_owned()));
    world.sql("INSERT INTO role_permissions SELECT tenant_id, name, 'CLIENT.READ' FROM roles");
    assert!(
        !accountant.listed().contains(&"search_clients".to_owned()),
        "a look-alike grants nothing"
    );
}

fn scopes_intersect_at_use(world: &World) {
    let owner = world.owner();
    world.sql("UPDATE api_tokens SET scopes = 'client.read approve.ledger user.admin nonsense'");
    assert_eq!(owner.listed(), ["who_am_i", "search_clients", "get_client", "list_proposals"]);
    let me = owner.ask("who_am_i", json!({}));
    assert_eq!(me["permissions"].as_array().unwrap().first().unwrap(), "client.read");
    world.sql("DELETE FROM role_permissions WHERE permission = 'client.read'");
    assert_eq!(owner.listed(), ["who_am_i", "list_proposals"]);
}

fn a_token_ends_when_it_says_and_whoever_holds_it_may_end_it(world: &World) {
    let owner = world.owner();
    world.sql("UPDATE api_tokens SET expires_at = '2026-11-30T10:00:00.000000Z'");
    assert_eq!(ping(&owner).status, 401);
    world.sql("UPDATE api_tokens SET expires_at = '2026-11-30T10:00:01.000000Z'");
    assert_eq!(ping(&owner).status, 200);
    let assistant = world.client("leman", "assistant");
    assert_eq!(assistant.send("/auth/revoke", &[], "").json()["revoked"], true);
    assert_eq!(ping(&assistant).status, 401);
    assert_eq!(assistant.send("/auth/revoke", &[], "").status, 401);
    assert_eq!(ping(&owner).status, 200, "only its own");
    let (_, _, jwt) = good(world);
    assert_eq!(world.bearer(&jwt).send("/auth/revoke", &[], "").status, 400);
    assert_eq!(world.anonymous().send("/auth/revoke", &[], "").status, 401);
}

fn an_old_key_verifies_until_it_is_gone(world: &World) {
    let (header, claims, _) = good(world);
    let kid = |secret: &[u8; 32]| -> String {
        let digest = Sha256::digest(secret);
        format!("{:016x}", u64::from_be_bytes(digest[..8].try_into().unwrap()))
    };
    for (secret, status) in [(SECRETS[0], 200), (SECRETS[1], 200), ([1; 32], 401)] {
        let mut header = header.clone();
        header["kid"] = kid(&secret).into();
        let token = forged(&secret, &header.to_string(), &claims.to_string());
        assert_eq!(try_token(world, &token).status, status);
    }
}

fn no_secret_is_at_rest(world: &World) {
    let hex = if world.database.is_postgres() { "encode(digest, 'hex')" } else { "hex(digest)" };
    let stored = world.query(&format!(
        "SELECT {hex} || '|' || name || '|' || suffix || '|' || scopes FROM api_tokens"
    ));
    let hashes = world.query("SELECT coalesce(password_hash, '') FROM users");
    let all = format!("{stored:?}{hashes:?}").to_lowercase();
    for person in guichet::demo::people() {
        assert!(!all.contains(&person.token[4..30].to_lowercase()));
        assert!(!all.contains(&person.password.to_lowercase()));
    }
    assert!(all.contains("$argon2id$v=19$m=19456,t=2,p=1$"));
}

fn the_last_use_is_written_down(world: &World) {
    world.sql("UPDATE api_tokens SET last_used_at = NULL");
    assert_eq!(ping(&world.owner()).status, 200);
    let used = || {
        world
            .query("SELECT CAST(count(*) AS TEXT) FROM api_tokens WHERE last_used_at IS NOT NULL AND last_used_from = '127.0.0.1'")
            .concat()
            .concat()
    };
    let start = std::time::Instant::now();
    while used() != "1" {
        assert!(start.elapsed().as_secs() < 20, "the use of a token was not written down");
        std::thread::yield_now();
    }
}
