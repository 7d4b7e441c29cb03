// Listens on a free loopback port, passes every request on to a server with a token in its Authorization header, and
// prints where: for clients that cannot send a header.
//
//     node with-token.mjs http://127.0.0.1:8420/mcp gct_…
import http from "node:http";

const [upstream, token] = process.argv.slice(2);
if (!upstream || !token) {
  console.error("usage: node with-token.mjs URL TOKEN");
  process.exit(2);
}
const { hostname, port, pathname } = new URL(upstream);

const proxy = http.createServer((incoming, outgoing) => {
  const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
  const { method } = incoming;
  const passedOn = http.request({ hostname, port, path: pathname, method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.rawHeaders);
    answer.pipe(outgoing);
  });
  passedOn.on("error", (error) => outgoing.writeHead(502).end(String(error)));
  outgoing.on("close", () => passedOn.destroy());
  incoming.pipe(passedOn);
});
proxy.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${proxy.address().port}${pathname}`);
});
