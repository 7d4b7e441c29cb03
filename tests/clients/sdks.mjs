// What the TypeScript SDKs of both eras make of a Guichet with the demo data: they list, call, page, read and complete,
// and are refused as they should be. One line per check; exit code 0 only if all pass.
//
//     node sdks.mjs URL TOKEN TOKEN_OF_A_LESSER_ROLE
import assert from "node:assert/strict";

import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, token, lesserToken] = process.argv.slice(2);
if (!url || !token || !lesserToken) {
  console.error("usage: node sdks.mjs URL TOKEN TOKEN_OF_A_LESSER_ROLE");
  process.exit(2);
}
const self = { name: "guichet-tests", version: "1" };

const sdks = [
  {
    name: "sdk 1",
    revision: "2025-11-25",
    make: () => new LegacyClient(self),
    Transport: LegacyTransport,
    negotiated: (_, transport) => transport.protocolVersion,
  },
  ...[
    ["legacy", "2025-11-25"],
    ["auto", "2026-07-28"],
  ].map(([mode, revision]) => ({
    name: `client 2 ${mode}`,
    revision,
    make: () => new Client(self, { versionNegotiation: { mode } }),
    Transport: StreamableHTTPClientTransport,
    negotiated: (client) => client.getNegotiatedProtocolVersion(),
  })),
];

async function connect(sdk, bearer) {
  const headers = { Authorization: `Bearer ${bearer}` };
  const transport = new sdk.Transport(new URL(url), { requestInit: { headers } });
  const client = sdk.make();
  await client.connect(transport);
  return { client, transport };
}

async function list(client) {
  const { tools } = await client.listTools();
  return tools.map((tool) => tool.name);
}

// The answer of a tool; the client itself has validated it against the schema that it got from the list.
async function ask(client, name, args) {
  const answer = await client.callTool({ name, arguments: args });
  assert.ok(!answer.isError, JSON.stringify(answer));
  assert.deepEqual(JSON.parse(answer.content[0].text), answer.structuredContent);
  return answer.structuredContent;
}

const checks = {
  async "negotiates its revision"({ sdk, client, transport }) {
    assert.equal(sdk.negotiated(client, transport), sdk.revision);
  },
  async "lists tools with schemas"({ client }) {
    const { tools } = await client.listTools();
    assert.ok(tools.length >= 13, `${tools.length} tools`);
    assert.ok(tools.every((tool) => tool.description && tool.inputSchema && tool.outputSchema));
  },
  async "calls a tool whose answer fits its schema"({ client }) {
    const answer = await ask(client, "list_open_items", { as_of: "2026-06-30", limit: 5 });
    assert.equal(answer.items.length, 5);
  },
  async "pages with a cursor to the end"({ client }) {
    const ids = new Set();
    let rows = 0;
    let cursor;
    do {
      const page = await ask(client, "search_clients", { limit: 7, ...(cursor && { cursor }) });
      for (const item of page.items) ids.add(item.id);
      rows += page.items.length;
      cursor = page.next_cursor;
    } while (cursor);
    assert.equal(ids.size, rows);
    const whole = await ask(client, "search_clients", { limit: 100 });
    assert.deepEqual([...ids], whole.items.map((item) => item.id));
  },
  async "reads a resource"({ client }) {
    const { contents } = await client.readResource({ uri: "guichet://me" });
    assert.deepEqual(JSON.parse(contents[0].text), await ask(client, "who_am_i", {}));
  },
  async "completes the name of a client to its id"({ client }) {
    const { resourceTemplates } = await client.listResourceTemplates();
    const uri = resourceTemplates[0].uriTemplate;
    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri },
      argument: { name: "id", value: "a" },
    });
    assert.ok(completion.values.length > 0);
  },
  async "is refused a bad argument, with a code"({ client }) {
    const answer = await client.callTool({ name: "search_clients", arguments: { limit: "many" } });
    assert.equal(answer.isError, true);
    const refusal = JSON.parse(answer.content[0].text);
    assert.equal(refusal.code, "invalid_argument");
    assert.equal(refusal.field, "limit");
  },
  async "is refused a tool that is hidden from its role"({ sdk, client }) {
    const lesser = (await connect(sdk, lesserToken)).client;
    const [all, fewer] = [await list(client), await list(lesser)];
    const hidden = all.find((name) => !fewer.includes(name));
    assert.ok(hidden && fewer.length > 0, `all: ${all}; fewer: ${fewer}`);
    const refused = (name) => lesser.callTool({ name, arguments: {} });
    const error = await refused(hidden).catch((error) => error);
    assert.equal(error.code, -32602, String(error));
    const unknown = await refused("no_such_tool").catch((error) => error);
    assert.equal(error.message.replaceAll(hidden, "?"), unknown.message.replaceAll("no_such_tool", "?"));
    await lesser.close();
  },
  async "is refused a wrong token with a 401"({ sdk }) {
    const wrong = token.slice(0, -1) + (token.endsWith("a") ? "b" : "a");
    const error = await connect(sdk, wrong).then(
      () => assert.fail("a wrong token was let in"),
      (error) => error,
    );
    const status = error.status ?? error.data?.status ?? error.code;
    assert.ok(status === 401 || /401|unauthori[sz]ed/i.test(String(error)), String(error));
  },
};

let failed = 0;
for (const sdk of sdks) {
  const connected = await connect(sdk, token);
  for (const [claim, check] of Object.entries(checks)) {
    try {
      await check({ sdk, ...connected });
      console.log(`ok      ${sdk.name} ${claim}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${sdk.name} ${claim}: ${error.message}`);
    }
  }
  await connected.client.close();
}
console.log(failed ? `${failed} checks failed` : "all checks passed");
process.exit(failed ? 1 : 0);
