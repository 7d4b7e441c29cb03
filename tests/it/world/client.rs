//! A client of the endpoint, as plain as can be: it shows what travels.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::{HeaderMap, Response};

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.bytes);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The tool's answer, after checking that its text block says what `structuredContent` says.
    pub(crate) fn content(&self) -> Value {
        let answer = self.json();
        let result = &answer["result"];
        assert!(result.get("isError").is_none(), "{}", self.text());
        let text = result["content"][0]["text"].as_str().unwrap();
        let raw = self.text();
        let escaped = serde_json::to_string(text).unwrap();
        assert!(raw.contains(&escaped), "the text block is not what was sent");
        assert!(raw.contains(&format!(r#""structuredContent":{text}"#)), "text ≠ structured");
        result["structuredContent"].clone()
    }

    /// The refusal of a tool: code, message and, where one is at fault, field.
    pub(crate) fn refusal(&self) -> Value {
        let answer = self.json();
        assert_eq!(answer["result"]["isError"], true, "{}", self.text());
        serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
    }
}

/// A client with one credential or none.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    agent: Agent,
    url: String,
    authorization: Option<String>,
}

/// A JSON-RPC request of the older revisions.
#[expect(clippy::needless_pass_by_value, reason = "tests write their parameters in place")]
pub(crate) fn body_of(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// A JSON-RPC request of 2026-07-28.
pub(crate) fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    body_of(method, params)
}

impl Client {
    pub(crate) fn new(address: SocketAddr, authorization: Option<String>) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)))
            .build();
        Self { agent: config.into(), url: format!("http://{address}"), authorization }
    }

    /// Sends a text with extra headers to a path.
    pub(crate) fn send(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.send_bytes(path, headers, body.as_bytes())
    }

    /// Sends any bytes with extra headers to a path.
    pub(crate) fn send_bytes(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut request = self.agent.post(format!("{}{path}", self.url));
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            request = request.header("content-type", "application/json");
        }
        request = request.header("accept", "application/json, text/event-stream");
        if let Some(authorization) = &self.authorization {
            request = request.header("authorization", authorization);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        received(request.send(body).unwrap())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        let mut request = self.agent.get(format!("{}{path}", self.url));
        if let Some(authorization) = &self.authorization {
            request = request.header("authorization", authorization);
        }
        received(request.call().unwrap())
    }

    /// Sends a message of the older revisions to the endpoint.
    pub(crate) fn post(&self, body: &str) -> Answer {
        self.send("/mcp", &[("mcp-protocol-version", "2025-11-25")], body)
    }

    /// Makes a request of the older revisions.
    pub(crate) fn rpc(&self, method: &str, params: Value) -> Answer {
        self.post(&body_of(method, params).to_string())
    }

    /// Makes a request of 2026-07-28, with the headers it needs.
    pub(crate) fn rpc_modern(&self, method: &str, params: Value) -> Answer {
        let body = modern(method, params);
        let named = body["params"]["name"].as_str().or(body["params"]["uri"].as_str());
        let name = named.unwrap_or_default().to_owned();
        let mut headers = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
        if !name.is_empty() {
            headers.push(("mcp-name", &name));
        }
        self.send("/mcp", &headers, &body.to_string())
    }

    /// Calls a tool.
    #[expect(clippy::needless_pass_by_value, reason = "tests write their arguments in place")]
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.rpc("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// What a tool answers.
    pub(crate) fn ask(&self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments).content()
    }

    /// The names of the tools that are listed.
    pub(crate) fn listed(&self) -> Vec<String> {
        let answer = self.rpc("tools/list", json!({})).json();
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

fn received(mut response: Response<ureq::Body>) -> Answer {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = response.body_mut().with_config().limit(64 << 20).read_to_vec().unwrap();
    Answer { status, headers, bytes }
}
