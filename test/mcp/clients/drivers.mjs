// Clients that nobody here wrote, behind one small interface. This file stands here because their
// packages do.
import { createMCPClient } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport as AiStdio } from '@ai-sdk/mcp/mcp-stdio'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const RESULT = {
  content: [{ type: 'text', text: 'Roses are red' }],
  role: 'assistant',
  model: 'test',
  stopReason: 'endTurn',
}

/**
 * The SDK's own client; `mode` is its way of choosing the protocol version, `answers` fill the
 * forms it is shown in order.
 */
export const sdk =
  (mode) =>
  async (
    target,
    {
      answers = [],
      roots = ['file:///work'],
      capabilities = ['elicitation', 'sampling', 'roots'],
    } = {},
  ) => {
    const client = new Client(
      { name: 'sdk-client', version: '1.0.0' },
      {
        capabilities: Object.fromEntries(capabilities.map((name) => [name, {}])),
        ...(mode !== 'legacy' && { versionNegotiation: { mode } }),
      },
    )
    const asked = []
    const heard = []
    const left = [...answers]
    if (capabilities.includes('elicitation')) {
      client.setRequestHandler('elicitation/create', ({ params }) => {
        asked.push(params)
        return left.shift() ?? { action: 'cancel' }
      })
    }
    if (capabilities.includes('sampling')) {
      client.setRequestHandler('sampling/createMessage', ({ params }) => {
        asked.push(params)
        return { ...RESULT, content: RESULT.content[0] }
      })
    }
    if (capabilities.includes('roots'))
      client.setRequestHandler('roots/list', () => ({ roots: roots.map((uri) => ({ uri })) }))
    client.fallbackNotificationHandler = async (notification) => void heard.push(notification)
    for (const kind of [
      'notifications/message',
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
      'notifications/resources/updated',
    ])
      client.setNotificationHandler(kind, (notification) => void heard.push(notification))
    const transport =
      'url' in target
        ? new StreamableHTTPClientTransport(new URL(target.url))
        : new StdioClientTransport({ ...target, stderr: 'pipe' })
    await client.connect(transport)
    return {
      asked,
      heard,
      client,
      version: client.getNegotiatedProtocolVersion(),
      list: async () => (await client.listTools()).tools,
      call: (name, args, { progress, signal } = {}) =>
        client.callTool(
          { name, arguments: args },
          {
            ...(progress && { onprogress: (step) => void progress.push(step) }),
            ...(signal && { signal }),
          },
        ),
      resources: async () => (await client.listResources()).resources,
      templates: async () => (await client.listResourceTemplates()).resourceTemplates,
      read: async (uri) => (await client.readResource({ uri })).contents,
      prompts: async () => (await client.listPrompts()).prompts,
      prompt: async (name, args) => (await client.getPrompt({ name, arguments: args })).messages,
      complete: async (ref, argument) =>
        (await client.complete({ ref, argument })).completion.values,
      close: () => client.close(),
    }
  }

/** The client of the AI SDK, an implementation of its own. */
export async function aiSdk(target, { answers = [] } = {}) {
  const transport =
    'url' in target
      ? { type: 'http', url: target.url }
      : new AiStdio({ ...target, stderr: 'ignore' })
  // Left to itself, it gives a process one second to start before it takes it for an old server,
  // which a busy machine may need.
  transport.waitsForProtocolVersionDiscovery = true
  const client = await createMCPClient({
    transport,
    clientName: 'ai-sdk',
    capabilities: { elicitation: {} },
    onUncaughtError: () => undefined,
  })
  const { ElicitationRequestSchema } = await import('@ai-sdk/mcp')
  const asked = []
  const left = [...answers]
  client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => {
    asked.push(params)
    return left.shift() ?? { action: 'cancel' }
  })
  return {
    asked,
    heard: [],
    client,
    version: client.initializeResult.protocolVersion,
    list: async () => (await client.listTools()).tools,
    call: (name, args, { signal } = {}) =>
      client.callTool({ name, arguments: args, options: { ...(signal && { signal }) } }),
    resources: async () => (await client.listResources()).resources,
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    read: async (uri) => (await client.readResource({ uri })).contents,
    prompts: async () => (await client.listPrompts()).prompts,
    prompt: async (name, args) => (await client.getPrompt({ name, arguments: args })).messages,
    complete: async (ref, argument) => (await client.complete({ ref, argument })).completion.values,
    close: () => client.close(),
  }
}
