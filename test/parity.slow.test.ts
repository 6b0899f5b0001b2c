import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { call, createHandler, ERROR_TABLE, ToolError, toNode } from 'toolable'
import type { CallEvent, CallOptions, Outcome, ResultEvent, Tool, Toolset } from 'toolable'
import { post, readEvents, serveNode } from './http/support/doors.ts'
import { askModern } from './mcp/support/raw-http.ts'
import { modern, openRaw } from './mcp/support/raw-stdio.ts'
import type { Message } from './mcp/support/raw-stdio.ts'
import { sourceOf, makeFolder, runProgram } from './support/run-program.ts'
import './support/without-coverage.ts'

/** One call; the same for every surface. */
type Entry = {
  readonly tool: string
  readonly input?: object
  readonly options?: Pick<CallOptions, 'dryRun' | 'timeout' | 'confirm'>
  /** The input as flags; without it the input can only be said in JSON. */
  readonly args?: readonly string[]
  /** Only the surfaces that cost little. */
  readonly cheap?: true
  /** Models are shown something else than programs, so that not every surface carries all of it. */
  readonly hidden?: true
}

/** A way to call a tool. A new surface joins by adding one object to the list. */
type Surface = {
  readonly name: string
  takes?(entry: Entry): boolean
  call(entry: Entry): Promise<Outcome>
}

const { default: set, tools } = (await import(pathToFileURL(sourceOf('parity.mjs')).href)) as {
  default: Toolset
  tools: { [name: string]: Tool }
}
const folder = makeFolder()

const command = async (entry: Entry, args: readonly string[], input?: string): Promise<Outcome> => {
  const { dryRun, timeout, confirm = true } = entry.options ?? {}
  const flags = [
    ...(dryRun ? ['--dry-run'] : []),
    ...(timeout === undefined ? [] : ['--timeout', String(timeout)]),
    ...(confirm === true ? ['--yes'] : []),
  ]
  const { status, lines, stderr } = await runProgram(
    'parity.mjs',
    [entry.tool, ...args, ...flags],
    { cwd: folder, ...(input !== undefined && { input }) },
  )
  const { type: _type, ...outcome } = lines.at(-1) as ResultEvent
  expect({ ok: outcome.ok, stderr }).toEqual({ ok: status === 0, stderr: expect.any(String) })
  return outcome
}

const lastOf = async (events: AsyncIterable<CallEvent>): Promise<Outcome> => {
  let last: CallEvent | undefined
  for await (const event of events) last = event
  const { type: _type, ...outcome } = last as ResultEvent
  return outcome
}

// Called without a toolset, a tool does not know whose it is.
const asOfToolset = (outcome: Outcome): Outcome => {
  const { tool, ...meta } = outcome.meta
  expect(meta.version).toBeUndefined()
  return { ...outcome, meta: { ...meta, tool: `parity.${tool}`, version: '1.0.0' } }
}

const server = await serveNode(toNode(createHandler(set)))
afterAll(server.close)
const overHttp = async (
  { tool, input = {}, options = {} }: Entry,
  query = '',
): Promise<Response> => {
  const { dryRun, timeout, confirm = true } = options
  return fetch(
    `http://localhost:${server.port}/tools/${tool}${query}`,
    post(input, {
      ...(dryRun && { 'toolable-dry-run': 'yes' }),
      ...(timeout !== undefined && { 'toolable-timeout': String(timeout) }),
      ...(confirm === true && { 'toolable-confirm': 'yes' }),
    }),
  )
}
const answerOf = async (answer: Response): Promise<Outcome> => {
  const outcome = (await answer.json()) as Outcome
  expect(answer.status).toBe(
    outcome.ok
      ? 200
      : (ERROR_TABLE[outcome.error.code as keyof typeof ERROR_TABLE]?.http ?? answer.status),
  )
  return outcome
}

// Started with --confirm always, a server takes no host's word for a yes.
const overMcp = [
  openRaw('parity.mjs', [], { cwd: folder }),
  openRaw('parity.mjs', ['--confirm', 'always'], { cwd: folder }),
] as const
afterAll(async () => {
  await Promise.all(overMcp.map((raw) => raw.end()))
})
const callParams = ({
  tool,
  input,
  options: { dryRun, timeout } = {},
}: Entry): { readonly name: string; readonly _meta: object } & object => ({
  name: tool,
  ...(input && { arguments: input }),
  _meta: {
    'dev.toolable/options': {
      ...(dryRun && { dryRun }),
      ...(timeout !== undefined && { timeout }),
    },
  },
})
const outcomeOf = ({ result }: Message): Outcome => {
  const { content, structuredContent, isError, _meta } = result as {
    readonly content: readonly { readonly text?: string }[]
    readonly structuredContent?: unknown
    readonly isError?: true
    readonly _meta: { readonly [key: string]: Outcome }
  }
  const {
    meta: { caller, ...meta },
    ...outcome
  } = _meta['dev.toolable/outcome']!
  expect({ caller, isError: isError ?? false }).toEqual({ caller, isError: !outcome.ok })
  if (!outcome.ok) {
    expect(JSON.parse(content[0]!.text!)).toMatchObject({ error: outcome.error })
    return { ...outcome, meta }
  }
  return {
    ...outcome,
    result:
      structuredContent === undefined
        ? parsed(content[outcome.message === undefined ? 0 : 1]?.text)
        : structuredContent,
    meta,
  }
}
const parsed = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text!) as unknown
  } catch {
    return text
  }
}
const isShown = ({ hidden }: Entry): boolean => !hidden
// To older clients a result that is no object goes as { result }.
const unwrapped = (outcome: Outcome): Outcome =>
  outcome.ok && Object.keys(Object(outcome.result) as object).join() === 'result'
    ? { ...outcome, result: (outcome.result as { readonly result: unknown }).result }
    : outcome
const withMeta = (params: { readonly _meta: object }): object => modern(params, {}, params._meta)

let files = 0
const surfaces: readonly Surface[] = [
  { name: 'toolset.call', call: ({ tool, input, options }) => set.call(tool, input, options) },
  {
    name: 'call',
    call: async ({ tool, input, options }) => asOfToolset(await call(tools[tool]!, input, options)),
  },
  {
    name: 'tool.stream',
    call: async ({ tool, input, options }) =>
      asOfToolset(await lastOf(tools[tool]!.stream(input, options))),
  },
  {
    name: 'toolset.stream',
    call: ({ tool, input, options }) => lastOf(set.stream(tool, input, options)),
  },
  {
    name: 'command line, JSON argument',
    call: (entry) => command(entry, [JSON.stringify(entry.input ?? {})]),
  },
  {
    name: 'command line, flags',
    takes: ({ args, cheap }) => args !== undefined && !cheap,
    call: (entry) => command(entry, entry.args!),
  },
  {
    name: 'command line, stdin',
    takes: ({ cheap }) => !cheap,
    call: (entry) => command(entry, ['-'], JSON.stringify(entry.input ?? {})),
  },
  {
    name: 'command line, file',
    takes: ({ cheap }) => !cheap,
    call(entry) {
      const file = `input-${files++}.json`
      writeFileSync(join(folder, file), JSON.stringify(entry.input ?? {}))
      return command(entry, [`@${file}`])
    },
  },
  { name: 'HTTP', call: async (entry) => answerOf(await overHttp(entry)) },
  {
    name: 'HTTP, events',
    async call(entry) {
      const { type: _type, ...outcome } = (
        await readEvents(await overHttp(entry, '?stream=true'))
      ).at(-1)!.data as ResultEvent
      return outcome
    },
  },
  {
    name: 'MCP over stdio',
    takes: isShown,
    call: async (entry) =>
      outcomeOf(
        await overMcp[entry.options?.confirm === false ? 1 : 0].ask(
          'tools/call',
          withMeta(callParams(entry)),
        ),
      ),
  },
  {
    name: 'MCP over stdio, older client',
    takes: isShown,
    call: async (entry) =>
      unwrapped(
        outcomeOf(
          await overMcp[entry.options?.confirm === false ? 1 : 0].ask(
            'tools/call',
            callParams(entry),
          ),
        ),
      ),
  },
  {
    name: 'MCP over HTTP',
    takes: (entry) => isShown(entry) && entry.options?.confirm !== false,
    call: async (entry) => {
      const params = callParams(entry)
      return outcomeOf(
        (
          await askModern(
            `http://localhost:${server.port}/mcp`,
            'tools/call',
            {},
            {
              headers: { 'mcp-name': params.name },
              body: JSON.stringify({
                jsonrpc: '2.0',
                id: 1,
                method: 'tools/call',
                params: withMeta(params),
              }),
            },
          )
        ).message,
      )
    },
  },
  {
    name: 'command line, stream',
    takes: ({ cheap }) => !cheap,
    call: (entry) => command(entry, ['--stream', JSON.stringify(entry.input ?? {})]),
  },
]

const entries: { readonly [what: string]: Entry } = {
  'a success': { tool: 'add', input: { a: 1, b: 5 }, args: ['--a', '1', '--b=5'] },
  'a default': { tool: 'add', input: { a: 1 }, args: ['--a', '1'] },
  'a field in camel case': {
    tool: 'add',
    input: { a: 1, maxDepth: 3 },
    args: ['--a', '1', '--max-depth', '3'],
  },
  'transforms of input and output': {
    tool: 'shout',
    input: { text: 'hi', words: ['a', 'b'] },
    args: ['--text', 'hi', '--words', 'a', '--words', 'b'],
  },
  'nested objects': {
    tool: 'nested',
    input: { config: { name: 'x', deep: { on: true } } },
    args: ['--config.name', 'x', '--config.deep.on', 'true'],
  },
  'a result with a status of its own': {
    tool: 'choose',
    input: { color: 'red' },
    args: ['--color', 'red'],
  },
  'no result': { tool: 'gives', input: { what: 'nothing' }, args: ['--what', 'nothing'] },
  'a number that JSON has not': { tool: 'gives', input: { what: 'nan' }, cheap: true },
  'a message': { tool: 'gives', input: { what: 'message' }, args: ['--what', 'message'] },
  'a hidden result': { tool: 'gives', input: { what: 'hidden' }, cheap: true, hidden: true },
  content: { tool: 'gives', input: { what: 'content' }, args: ['--what', 'content'], hidden: true },
  'content that nobody knows': { tool: 'gives', input: { what: 'nonsense' }, cheap: true },
  'an artifact': { tool: 'gives', input: { what: 'artifact' }, args: ['--what', 'artifact'] },
  'a date': { tool: 'gives', input: { what: 'date' }, cheap: true },
  'odd characters': { tool: 'gives', input: { what: 'wide' }, args: ['--what', 'wide'] },
  'a result that JSON cannot carry': { tool: 'gives', input: { what: 'bad' }, cheap: true },
  'a result that the output refuses': { tool: 'lies', args: [] },
  'a missing field': { tool: 'add', input: { b: 1 }, args: ['--b', '1'] },
  'an unknown key': { tool: 'add', input: { a: 1, c: 2 } },
  'an unknown key inside': {
    tool: 'nested',
    input: { config: { name: 'x', nam: 'y' } },
    cheap: true,
  },
  'a wrong type': { tool: 'add', input: { a: '1' } },
  'a value that is not offered': { tool: 'choose', input: { color: 'gren' } },
  'several problems': { tool: 'nested', input: { config: { name: 5, deep: { on: 'yes' } } } },
  'a declared error': { tool: 'fails', input: { code: 'E3101' }, args: ['--code', 'E3101'] },
  'a text for a code of ours': { tool: 'fails', input: { code: 'E3001' }, cheap: true },
  'an own code': { tool: 'fails', input: { code: 'E_MINE', message: 'mine' }, cheap: true },
  'a thrown text': { tool: 'breaks', input: { how: 'text' }, cheap: true },
  'a thrown error': { tool: 'breaks', input: { how: 'error' }, args: ['--how', 'error'] },
  'an error of the system': { tool: 'breaks', input: { how: 'system' }, cheap: true },
  'a partial result': { tool: 'some', input: { done: ['a'] }, args: ['--done', 'a'] },
  'a result in which nothing succeeded': { tool: 'some', input: {}, args: [] },
  'a dry run that plans': {
    tool: 'plans',
    input: { path: '/x' },
    options: { dryRun: true },
    args: ['--path', '/x'],
  },
  'a dry run without support': {
    tool: 'add',
    input: { a: 1 },
    options: { dryRun: true },
    args: ['--a', '1'],
  },
  'a confirmed destructive call': {
    tool: 'deletes',
    input: { path: '/x' },
    options: { confirm: true },
    args: ['--path', '/x'],
  },
  'an unconfirmed destructive call': {
    tool: 'deletes',
    input: { path: '/x' },
    options: { confirm: false },
    args: ['--path', '/x'],
  },
  'a timeout': { tool: 'hangs', options: { timeout: '50ms' }, args: [] },
  'a stream': { tool: 'flows', input: { n: 3 }, args: ['--n', '3'] },
  'a tool without a handler': { tool: 'described', cheap: true },
  ...Object.fromEntries(
    Object.keys(ERROR_TABLE).map((code) => [
      `the error ${code}`,
      { tool: 'fails', input: { code, message: 'x' }, cheap: true },
    ]),
  ),
}

describe('[4.envelope-success] [4.envelope-error] [4.envelope-partial] every surface gives the same outcome', () => {
  test.each(Object.entries(entries))('for %s', async (_what, entry) => {
    const asked = surfaces.filter((surface) => surface.takes?.(entry) ?? true)
    const given = await Promise.all(
      asked.map(async (surface) => [surface.name, comparable(await surface.call(entry))] as const),
    )
    const [, expected] = given[0]!
    for (const [name, outcome] of given)
      expect({ surface: name, outcome }).toEqual({ surface: name, outcome: expected })
  })
})

test('[3.camel-case-flags] the field maxDepth is the flag --max-depth', async () => {
  expect(await command({ tool: 'add' }, ['--a', '1', '--max-depth', '3'])).toMatchObject({
    ok: true,
    result: 3,
  })
  expect(await command({ tool: 'add' }, ['--a', '1', '--max-depth', 'deep'])).toMatchObject({
    ok: false,
    error: { code: 'INVALID_INPUT', field: 'maxDepth' },
  })
  expect(await command({ tool: 'add' }, ['--a', '1', '--max-dpth', '3'])).toMatchObject({
    ok: false,
    error: { code: 'USAGE', message: expect.stringContaining('did you mean --max-depth?') },
  })
})

describe('a direct call gives the result or throws the error', () => {
  test.each(Object.entries(entries))(
    '[3.tool-throws-tool-error] for %s',
    async (_what, { tool, input, options }) => {
      const outcome = await call(tools[tool]!, input, options)
      const direct = await tools[tool]!(input, options).catch((error: unknown) => error)
      if (!outcome.ok) {
        expect(direct).toBeInstanceOf(ToolError)
        expect(JSON.parse(JSON.stringify((direct as ToolError).toObject()))).toEqual(outcome.error)
      } else {
        expect(direct).not.toBeInstanceOf(ToolError)
        const { result } = outcome
        expect(JSON.parse(JSON.stringify(direct ?? null))).toEqual(result)
      }
    },
  )
})

// What differs on purpose: how long it took, how each surface writes a repaired call, and the mark
// for renderers in this process.
function comparable(outcome: Outcome): unknown {
  const { duration_ms: _duration, ...meta } = outcome.meta
  if (outcome.ok) {
    const { hidden: _hidden, ...shown } = outcome
    return { ...shown, meta }
  }
  const { suggestion, ...error } = outcome.error
  return {
    ...outcome,
    error: { ...error, ...(suggestion && { fix: suggestion.fix, action: suggestion.action }) },
    meta,
  }
}
