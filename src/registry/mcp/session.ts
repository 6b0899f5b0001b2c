import type { Client, Transport } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../contract/json.ts'
import { openHttpTransport } from './http-transport.ts'
import type { McpSettings } from './settings.ts'
import { StdioTransport } from './stdio-transport.ts'

/** What a session tells and asks on its own account. */
export type SessionHooks = {
  readonly capabilities: {
    readonly elicitation: boolean
    readonly sampling: boolean
    readonly roots: boolean
  }
  answer(method: string, params: JsonObject): Promise<JsonObject>
  log(level: string, text: string): void
  listChanged(): void
  /** The connection is over, whoever ended it. */
  closed(session: Session): void
}

/** One connection to a server, from its first answer to its end. */
export type Session = {
  readonly client: Client
  readonly isModern: boolean
  ended(): boolean
  describeEnd(): string | undefined
  errorTail(): string
  overflowed(): boolean
  /** Whether a server that is our child keeps our own process alive. */
  hold(alive: boolean): void
  close(): Promise<void>
}

/** What is remembered about a server between two sessions: which era it speaks. */
export type Verdict = { legacy?: boolean; sse?: boolean }

type Attempt = { readonly transport: Transport; readonly legacy: boolean }

/** An attempt to connect that failed, and what the server said before it was given up. */
export type FailedAttempt = {
  readonly end: string | undefined
  readonly errorTail: string
  readonly overflowed: boolean
}

const MOST_PAGES = 200

/** Connects to a server; throws what the SDK throws, and tells what is known of each attempt that failed. */
export async function openSession(
  settings: McpSettings,
  hooks: SessionHooks,
  verdict: Verdict,
  failed: (attempt: FailedAttempt) => void,
): Promise<Session> {
  const { place } = settings
  const type = 'http' in place ? (place.http.type ?? (verdict.sse ? 'sse' : 'http')) : undefined
  const make = async (wanted = type): Promise<Transport> =>
    'stdio' in place ? new StdioTransport(place.stdio) : openHttpTransport(place.http, wanted!)
  const first: Attempt = {
    transport: await make(),
    legacy: verdict.legacy === true || type === 'sse',
  }
  try {
    return await connect(first, settings, hooks, verdict, failed)
  } catch (error) {
    const second = await secondAttempt(error, first, settings, make)
    if (!second) throw error
    try {
      return await connect(second, settings, hooks, verdict, failed)
    } catch (again) {
      throw 'stdio' in place ? again : error
    }
  }
}

// Some older servers end at a request that they do not know, and the oldest ones speak another transport.
async function secondAttempt(
  error: unknown,
  { transport, legacy }: Attempt,
  { place }: McpSettings,
  make: (type?: 'http' | 'sse') => Promise<Transport>,
): Promise<Attempt | undefined> {
  if ('stdio' in place)
    return !legacy &&
      (error as { code?: unknown }).code === 'ERA_NEGOTIATION_FAILED' &&
      (transport as StdioTransport).pid !== null
      ? { transport: await make(), legacy: true }
      : undefined
  const status = (error as { data?: { status?: unknown } }).data?.status
  return place.http.type === undefined &&
    !legacy &&
    (status === 404 || status === 405 || status === 400)
    ? { transport: await make('sse'), legacy: true }
    : undefined
}

async function connect(
  { transport, legacy }: Attempt,
  settings: McpSettings,
  hooks: SessionHooks,
  verdict: Verdict,
  failed: (attempt: FailedAttempt) => void,
): Promise<Session> {
  const client = await createClient(settings, hooks)
  let over = false
  const stdio = transport instanceof StdioTransport ? transport : undefined
  const session: Session = {
    client,
    get isModern() {
      return client.getProtocolEra() === 'modern'
    },
    ended: () => over,
    describeEnd: () => stdio?.describeEnd(),
    errorTail: () => stdio?.errorTail() ?? '',
    overflowed: () => stdio?.overflowed === true,
    hold: (alive) => stdio?.hold(alive),
    close: () => closeSession(client, transport),
  }
  const limit = timeLimit(settings.startTimeout)
  try {
    await Promise.race([
      limit.passed,
      client.connect(transport, {
        timeout: settings.startTimeout,
        ...(legacy && { prior: { kind: 'legacy' } }),
      }),
    ])
  } catch (error) {
    // Looked at before it is closed: afterwards every server has ended.
    const end = session.describeEnd()
    await transport.close().catch(() => {})
    failed({ end, errorTail: session.errorTail(), overflowed: session.overflowed() })
    throw error
  } finally {
    limit.clear()
  }
  client.onclose = () => {
    over = true
    hooks.closed(session)
  }
  verdict.legacy = !session.isModern
  verdict.sse = transport.constructor.name === 'SSEClientTransport'
  await listen(session)
  return session
}

async function createClient(
  { startTimeout }: McpSettings,
  { capabilities, answer, log, listChanged }: SessionHooks,
): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/client')
  const client = new Client(
    { name: 'toolable', version: '0.1.0' },
    {
      capabilities: {
        ...(capabilities.elicitation && {
          elicitation: { form: { applyDefaults: true }, url: {} },
        }),
        ...(capabilities.sampling && { sampling: {} }),
        ...(capabilities.roots && { roots: {} }),
      },
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: startTimeout / 2 } },
      listMaxPages: MOST_PAGES,
      // Results are checked by the one call pipeline.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({
          valid: true,
          data: input as never,
          errorMessage: undefined,
        }),
      },
    },
  )
  if (capabilities.elicitation)
    client.setRequestHandler(
      'elicitation/create',
      async ({ method, params }) => (await answer(method, params as JsonObject)) as never,
    )
  if (capabilities.sampling)
    client.setRequestHandler(
      'sampling/createMessage',
      async ({ method, params }) => (await answer(method, params as JsonObject)) as never,
    )
  if (capabilities.roots)
    client.setRequestHandler(
      'roots/list',
      async ({ method }) => (await answer(method, {})) as never,
    )
  client.setNotificationHandler('notifications/message', ({ params: { level, data } }) =>
    log(level, typeof data === 'string' ? data : JSON.stringify(data)),
  )
  for (const list of ['tools', 'resources', 'prompts'] as const)
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => listChanged())
  return client
}

// Older servers tell of changes by themselves, and write logs when they are asked to.
async function listen({ client, isModern }: Session): Promise<void> {
  const { tools, resources, prompts, logging } = client.getServerCapabilities() ?? {}
  if (!isModern) {
    if (logging) void client.setLoggingLevel('info').catch(() => {})
    return
  }
  const filter = {
    ...(tools?.listChanged && { toolsListChanged: true }),
    ...(resources?.listChanged && { resourcesListChanged: true }),
    ...(prompts?.listChanged && { promptsListChanged: true }),
  }
  if (Object.keys(filter).length > 0) void client.listen(filter).catch(() => {})
}

async function closeSession(client: Client, transport: Transport): Promise<void> {
  const { terminateSession } = transport as { terminateSession?(): Promise<void> }
  const limit = timeLimit(1000)
  if (terminateSession)
    await Promise.race([limit.passed, terminateSession.call(transport)]).catch(() => {})
  limit.clear()
  await client.close().catch(() => {})
  await transport.close().catch(() => {})
}

function timeLimit(milliseconds: number): { readonly passed: Promise<never>; clear(): void } {
  let timer: NodeJS.Timeout
  const passed = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`there was no answer within ${milliseconds / 1000} seconds`)),
      milliseconds,
    )
  })
  passed.catch(() => {})
  return { passed, clear: () => clearTimeout(timer) }
}
