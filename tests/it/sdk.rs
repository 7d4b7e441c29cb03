//! The official Rust SDK as a client, in both eras: it connects, lists, calls, pages and reads, and is refused as it should be.

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ErrorCode, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ResourceContents,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService,
    ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};

use crate::world::World;

on_both! {
    it_connects_in_either_era_and_lists_the_tools_of_its_role,
    it_calls_a_tool_and_takes_the_structured_answer,
    it_pages_to_the_end_without_a_gap,
    it_reads_a_resource_and_completes_a_name,
    a_wrong_token_surfaces_as_a_challenge,
    a_hidden_tool_and_a_bad_argument_are_told_apart,
}

type Sdk = RunningService<RoleClient, ()>;

/// The handshake of 2025-11-25, the discovery of 2026-07-28, and the client that finds out which.
fn eras() -> [(ClientLifecycleMode, ProtocolVersion); 3] {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let discover = ClientLifecycleMode::Discover { preferred_versions: preferred_versions.clone() };
    let auto = ClientLifecycleMode::Auto { preferred_versions, legacy_version: None };
    [
        (ClientLifecycleMode::Initialize, ProtocolVersion::V_2025_11_25),
        (discover, ProtocolVersion::V_2026_07_28),
        (auto, ProtocolVersion::V_2026_07_28),
    ]
}

async fn connect(
    world: &World,
    token: &str,
    lifecycle: ClientLifecycleMode,
) -> Result<Sdk, ClientInitializeError> {
    let url = format!("http://{}/mcp", world.address);
    let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(token);
    ().serve_with_lifecycle(StreamableHttpClientTransport::from_config(config), lifecycle).await
}

/// Runs `check` with a client of a role, once in each era.
#[expect(clippy::needless_pass_by_value, reason = "tests write their checks in place")]
fn in_each_era(world: &World, role: &str, check: impl AsyncFn(&Sdk)) {
    let token = world.person("leman", role).token;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (lifecycle, _) in eras() {
        runtime.block_on(async {
            let sdk = connect(world, &token, lifecycle).await.unwrap();
            check(&sdk).await;
            sdk.cancel().await.unwrap();
        });
    }
}

fn call(tool: &'static str, arguments: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone())
}

fn content(result: CallToolResult) -> Value {
    assert_ne!(result.is_error, Some(true), "{result:?}");
    result.structured_content.unwrap()
}

fn it_connects_in_either_era_and_lists_the_tools_of_its_role(world: &World) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (lifecycle, version) in eras() {
        for role in ["owner", "client_user"] {
            let person = world.person("leman", role);
            runtime.block_on(async {
                let sdk = connect(world, &person.token, lifecycle.clone()).await.unwrap();
                let server = sdk.peer_info().unwrap();
                assert_eq!(server.protocol_version, version, "{lifecycle:?}");
                let tools = sdk.list_all_tools().await.unwrap();
                let names: Vec<_> = tools.iter().map(|tool| tool.name.to_string()).collect();
                assert_eq!(names, world.client("leman", role).listed());
                let described = |tool: &rmcp::model::Tool| {
                    tool.description.is_some() && tool.output_schema.is_some()
                };
                assert!(tools.iter().all(described));
                sdk.cancel().await.unwrap();
            });
        }
    }
}

fn it_calls_a_tool_and_takes_the_structured_answer(world: &World) {
    let arguments = json!({ "as_of": "2026-06-30", "limit": 5 });
    let expected = world.owner().ask("list_open_items", arguments.clone());
    in_each_era(world, "owner", async |sdk| {
        let result = sdk.call_tool(call("list_open_items", &arguments)).await.unwrap();
        let text = result.content[0].as_text().unwrap().text.clone();
        let answer = content(result);
        assert_eq!(answer, expected);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    });
}

fn it_pages_to_the_end_without_a_gap(world: &World) {
    let whole = world.owner().ask("search_clients", json!({ "limit": 100 }));
    let id = |row: &Value| row["id"].as_str().unwrap().to_owned();
    let expected: Vec<_> = whole["items"].as_array().unwrap().iter().map(id).collect();
    assert!(expected.len() > 20 && whole.get("next_cursor").is_none(), "{whole}");
    in_each_era(world, "owner", async |sdk| {
        let mut seen = vec![];
        let mut arguments = json!({ "limit": 7 });
        loop {
            let result = sdk.call_tool(call("search_clients", &arguments)).await.unwrap();
            let page = content(result);
            seen.extend(page["items"].as_array().unwrap().iter().map(id));
            let Some(cursor) = page.get("next_cursor") else { break };
            arguments["cursor"] = cursor.clone();
        }
        assert_eq!(seen, expected);
        let cursor = Some("no such page".to_owned());
        let bad = PaginatedRequestParams::default().with_cursor(cursor);
        let refused = sdk.list_tools(Some(bad)).await;
        assert_eq!(rpc_code(refused), ErrorCode::INVALID_PARAMS);
    });
}

fn it_reads_a_resource_and_completes_a_name(world: &World) {
    let me = world.owner().ask("who_am_i", json!({}));
    in_each_era(world, "owner", async |sdk| {
        let read = sdk.read_resource(ReadResourceRequestParams::new("guichet://me")).await.unwrap();
        let ResourceContents::TextResourceContents { text, .. } = &read.contents[0] else {
            panic!("{read:?}");
        };
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), me);
        let template = sdk.list_all_resource_templates().await.unwrap()[0].uri_template.clone();
        let completed = sdk.complete_resource_simple(template, "id", "a").await.unwrap();
        assert!(!completed.is_empty());
        let absent = ReadResourceRequestParams::new("guichet://nothing");
        assert!(matches!(sdk.read_resource(absent).await, Err(ServiceError::McpError(_))));
    });
}

fn a_wrong_token_surfaces_as_a_challenge(world: &World) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let good = world.person("leman", "owner").token;
    let never_issued =
        guichet::auth::api_token::ApiToken::from_secret(&[5; 32]).reveal().to_owned();
    for (lifecycle, _) in eras() {
        for token in [&good[..good.len() - 1], &never_issued] {
            let refused = runtime.block_on(connect(world, token, lifecycle.clone()));
            let error = refused.err().unwrap();
            let challenge = error.auth_challenge().unwrap_or_else(|| panic!("{error:?}"));
            assert!(challenge.starts_with("Bearer"), "{challenge}");
        }
    }
}

fn a_hidden_tool_and_a_bad_argument_are_told_apart(world: &World) {
    in_each_era(world, "client_user", async |sdk| {
        let hidden = sdk.call_tool(call("list_employees", &json!({}))).await;
        assert_eq!(rpc_code(hidden), ErrorCode::INVALID_PARAMS);
        let bad = json!({ "limit": "many" });
        let result = sdk.call_tool(call("search_clients", &bad)).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        let said = &result.content[0].as_text().unwrap().text;
        let refusal: Value = serde_json::from_str(said).unwrap();
        assert_eq!(refusal["code"], "invalid_argument");
        assert_eq!(refusal["field"], "limit");
    });
}

fn rpc_code<T: std::fmt::Debug>(answer: Result<T, ServiceError>) -> ErrorCode {
    match answer {
        Err(ServiceError::McpError(error)) => error.code,
        other => panic!("{other:?}"),
    }
}
