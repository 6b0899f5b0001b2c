import type { Io } from '../../contract/io.ts'
import { toMilliseconds } from '../../contract/duration.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Entry } from '../../registry/entry.ts'
import type { FoundProgram } from '../../registry/found.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { newRunId } from '../../runner/folder/run-id.ts'
import { joinTrace } from '../../runner/trace/traceparent.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import { readAnswers } from './read-answers.ts'

/** What `run` was told by flags of its own. */
export type RunFlags = {
  readonly detach?: boolean
  readonly retries?: number
  readonly heartbeatGrace?: number
  readonly allowLevel?: 'L1' | 'L2' | 'L3'
  readonly answer?: readonly string[]
  readonly wait?: boolean
  readonly runs?: string
  readonly selftest?: boolean
}

const TIMEOUT_S = 1800
const HEARTBEAT_GRACE_S = 90
const RETRIES = 3

/** How the tool takes what stands behind its name. */
export type Given = { readonly args: readonly string[]; readonly input?: { readonly [field: string]: unknown } }

/** The request for a run, from the command line, the environment and the manifest; the first that says something decides. */
export async function makeRequest(entry: Entry, program: FoundProgram | undefined, given: Given, flags: RunFlags, globals: Globals, io: Io): Promise<RunRequest> {
  const { manifest } = await entry.definition.compiled()
  const runId = newRunId()
  return {
    v: 1,
    run_id: runId,
    tool: entry.id,
    ...(entry.found.version !== undefined && { version: entry.found.version }),
    created: new Date(io.now()).toISOString(),
    ...(program && { call: program.call }),
    args: given.args,
    ...(given.input && { input: given.input }),
    inputSchema: manifest.inputSchema,
    ...(program?.permissions && { permissions: program.permissions }),
    cwd: io.cwd,
    ...(program?.manifest !== undefined && { manifest: program.manifest }),
    confined: program !== undefined && (program.confined || program.permissions !== undefined),
    timeout_s: globals.timeout === undefined ? (readNumber(io, 'TOOL_TIMEOUT_S') ?? manifest.timeout ?? TIMEOUT_S) : toMilliseconds(globals.timeout, 'timeout') / 1000,
    heartbeat_grace_s: flags.heartbeatGrace ?? readNumber(io, 'HEARTBEAT_GRACE_S') ?? HEARTBEAT_GRACE_S,
    retries: flags.retries ?? RETRIES,
    ...joinTrace(io.env),
    idempotency_key: globals.idempotencyKey ?? runId,
    ...(flags.allowLevel && { allow_level: flags.allowLevel }),
    ...(globals.secretFiles.length > 0 && { secrets: readPairs(globals.secretFiles) }),
    ...(flags.answer && { answers: readAnswers(flags.answer) }),
  }
}

function readNumber({ env }: Io, name: string): number | undefined {
  const text = env[name]
  if (text === undefined || text === '') return undefined
  const seconds = Number(text)
  if (!Number.isFinite(seconds) || seconds <= 0) throw new ToolError('CONFIG', `${name} must be a number of seconds; it is '${text.slice(0, 40)}'`, { suggestion: `export ${name}=90` })
  return seconds
}

function readPairs(pairs: readonly string[]): { readonly [name: string]: string } {
  return Object.fromEntries(pairs.map((pair) => {
    const [, name, path] = /^([\w.-]+)=(.+)$/s.exec(pair) ?? []
    if (name === undefined || path === undefined) throw new ToolError('USAGE', '--secret-file needs name=path', { field: 'secret-file', suggestion: 'For example --secret-file token=./token.txt' })
    return [name, path]
  }))
}
