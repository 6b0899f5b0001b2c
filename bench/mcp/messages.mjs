// JSON-RPC as the load client writes and reads it; no library, so that the client costs as little
// as it can.
const MODERN = '2026-07-28'
const LEGACY = '2025-11-25'
const meta = JSON.stringify({
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
})

/** The call with an id of its own; its answer holds the sum. */
export function callMessage(id, era, tool = 'add') {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${tool}","arguments":{"a":${id},"b":1}${era === 'modern' ? `,"_meta":${meta}` : ''}}}`
}

/** What has to be said before the first call, each line of it. */
export function handshake(era) {
  if (era === 'modern') return []
  return [
    `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"${LEGACY}","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}`,
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  ]
}

/** Headers of an HTTP request. */
export function headers(era, method, tool) {
  const common = 'Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n'
  if (era === 'legacy') return `${common}MCP-Protocol-Version: ${LEGACY}\r\n`
  return `${common}MCP-Protocol-Version: ${MODERN}\r\nMcp-Method: ${method}\r\n${tool === undefined ? '' : `Mcp-Name: ${tool}\r\n`}`
}

/** Throws unless the text is a good answer to the call of that id. */
export function checkAnswer(text, id) {
  if (
    !text.includes(`"id":${id}`) ||
    !text.includes(String(id + 1)) ||
    text.includes('"isError":true') ||
    text.includes('"error":{')
  )
    throw new Error(`not the answer to call ${id}: ${text.slice(0, 500)}`)
}
