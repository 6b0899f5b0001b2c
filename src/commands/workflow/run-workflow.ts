/**
 * `toolable workflow run`: reads the input and hands the workflow to an engine. ENGINES is the
 * table of engines.
 */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readStdinText } from '../../cli/input.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import { coerceText } from '../../define/flag-input.ts'
import type { Io } from '../../protocol/io.ts'
import { parseJsonInput } from '../../protocol/parse-json.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { Registry } from '../../registry/types.ts'
import { recoverRuns } from '../../runner/recover.ts'
import type { RunOptions } from '../../runner/request.ts'
import { createRunId, findRunsFolder, isRunId } from '../../runner/run-paths.ts'
import { describeUnknownName } from '../../util/text.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import { loadWorkflow } from '../../workflow/definition/load.ts'
import type { Workflow } from '../../workflow/definition/model.ts'
import { createWorkflowRequest, hashWorkflow } from '../../workflow/request.ts'
import { checkWorkflowInput } from '../../workflow/scheduler.ts'
import type { ProgressStyle } from '../command.ts'
import { chooseProgress } from '../command.ts'
import type { RegistryFlags } from '../config.ts'
import { pickRegistryFlags, withRegistry } from '../config.ts'
import { getRunCaller, obtainConsent, toWorkflowConsentRequest } from '../run/consent.ts'
import type { RunFlags } from '../run/create-run.ts'
import { parseRunOptions } from '../run/create-run.ts'
import { startOrJoinRun } from '../run/run.ts'
import { findWorkflowFile, printDryRunPlan, requireTools } from './describe-workflow.ts'

type RunWorkflowFlags = WorkflowExecution['flags'] & {
  readonly workflow: string
  readonly input?: readonly string[]
  readonly engine: string
}

/** Executes a workflow; gives the exit status. Mistakes are reported before anything begins. */
export async function runWorkflow(
  flags: RunWorkflowFlags,
  context: BuiltinContext,
): Promise<number> {
  const { io, host, globals } = context
  if (globals.secretFile)
    throw new ToolError('USAGE', 'a workflow has no secrets of its own', {
      field: 'secret-file',
      suggestion: 'Name the files in the manifests of its tools',
    })
  if (flags.id !== undefined && globals.idempotencyKey !== undefined)
    throw new ToolError('USAGE', '--id and --idempotency-key both say which run it is', {
      field: 'id',
      suggestion: 'Give one of them',
    })
  const execute = Object.hasOwn(ENGINES, flags.engine) ? ENGINES[flags.engine] : undefined
  if (!execute)
    throw new ToolError(
      'INVALID_INPUT',
      describeUnknownName('engine', flags.engine, Object.keys(ENGINES)).message,
      { field: 'engine' },
    )
  const progress = chooseProgress(flags.progress, context)
  const path = await findWorkflowFile(flags.workflow, { cwd: io.cwd, config: flags.config })
  const workflow = await loadWorkflow(path, { cwd: io.cwd })
  const input = await readWorkflowInput(flags.input ?? [], workflow, io, host.signal)
  if (globals.dryRun) return printDryRunPlan(workflow, input, context)
  const options = {
    ...parseRunOptions(flags, globals, io.cwd),
    surroundings: pickRegistryFlags(flags),
    caller: getRunCaller(io),
  }
  const file = resolve(io.cwd, path)
  return execute({ workflow, input, file, flags, options, progress }, context)
}

/** A workflow to execute, as the command line asks for it. */
type WorkflowExecution = {
  readonly workflow: Workflow
  readonly input: JsonObject
  /** The file of the workflow. */
  readonly file: string
  readonly flags: RunFlags &
    RegistryFlags & {
      readonly id?: string
      /** Where the server of a distributed engine listens. */
      readonly ingress?: string
      /** Where that server is administered. */
      readonly admin?: string
    }
  readonly options: RunOptions & { readonly surroundings: RegistryFlags }
  readonly progress: ProgressStyle
}

/** Executes a workflow while its caller watches; gives the exit status. */
type ExecuteWorkflow = (wanted: WorkflowExecution, context: BuiltinContext) => Promise<number>

/** The engines by their names. A new one is a function, a line here, and its name in `--engine`. */
const ENGINES: { readonly [name: string]: ExecuteWorkflow } = {
  embedded: executeEmbedded,
  restate: executeRestate,
}

/** Executes a workflow in this process, as a run on record. */
async function executeEmbedded(
  wanted: WorkflowExecution,
  context: BuiltinContext,
): Promise<number> {
  const { workflow, flags, options } = wanted
  const { id = createRunId() } = flags
  if (!isRunId(id))
    throw new ToolError(
      'INVALID_INPUT',
      `'${id.slice(0, 60)}' cannot be the id of a run: ids look like r-0123456789`,
      { field: 'id' },
    )
  await recoverRuns(findRunsFolder(context.io.cwd, flags.config))
  return withRegistry(options.surroundings, context.io, async (registry) => {
    await requireTools(workflow, registry)
    await obtainWorkflowConsent(workflow, registry, context)
    return execute(id, wanted, { registry }, context)
  })
}

const DEFAULT_INGRESS = 'http://127.0.0.1:8080'

/**
 * Has the workers of a Restate server execute a workflow. Here it is a run on record as well, which
 * starts it there, shows what happens, and passes answers and cancellation on. The workflow
 * continues when this process ends.
 */
async function executeRestate(wanted: WorkflowExecution, context: BuiltinContext): Promise<number> {
  const { workflow, flags, options } = wanted
  const { id = createRunId(), ingress = DEFAULT_INGRESS, admin } = flags
  const { io } = context
  const server = compact({ ingress, admin })
  await requireServer(server, id, hashWorkflow(workflow), context)
  // Its tools are those of the workers; consent is about what this project knows of them.
  await withRegistry(options.surroundings, io, async (registry) => {
    await registry.prepare?.()
    await obtainWorkflowConsent(workflow, registry, context)
  })
  await recoverRuns(findRunsFolder(io.cwd, flags.config))
  return execute(id, wanted, { server }, context)
}

function execute(
  id: string,
  { workflow, input, file, flags, options, progress }: WorkflowExecution,
  { registry, server }: { readonly registry?: Registry; readonly server?: RestateServer },
  context: BuiltinContext,
): Promise<number> {
  const { cwd, env } = context.io
  const request = createWorkflowRequest(id, workflow, input, { ...options, cwd, env, file, server })
  const root = findRunsFolder(cwd, flags.config)
  const key = context.globals.idempotencyKey
  return startOrJoinRun({ root, request, key, flags, progress, ...compact({ registry }) }, context)
}

function obtainWorkflowConsent(
  workflow: Workflow,
  registry: Registry,
  context: BuiltinContext,
): Promise<void> {
  const mode = { agreed: context.globals.yes === true, dryRun: false }
  return obtainConsent(toWorkflowConsentRequest(workflow, registry), mode, context)
}

type RestateServer = { readonly ingress: string; readonly admin?: string }

// Without a server, nothing is recorded here. Where the id is taken, it has to be by the same
// workflow.
async function requireServer(
  server: RestateServer,
  id: string,
  hash: string,
  { io }: BuiltinContext,
): Promise<void> {
  const { openRestateEngine } = await import('../../workflow/restate/remote-run.ts')
  const engine = openRestateEngine(server, io)
  try {
    const known = await engine.get(id)
    if (known && known.hash !== '' && known.hash !== hash)
      throw new ToolError(
        'CONFLICT',
        `${id} is the id of another workflow at the server: ${known.name}`,
        { field: 'id', suggestion: 'Leave --id out: a new one is made' },
      )
  } finally {
    await engine.close()
  }
}

/**
 * The input of a workflow from what was typed: JSON objects, `@file.json`, `-` for stdin and
 * `key=value`, of which the last counts. Throws USAGE, and INVALID_INPUT for what does not fit the
 * schema of the workflow.
 */
async function readWorkflowInput(
  words: readonly string[],
  { input: schema }: Workflow,
  io: Io,
  signal: AbortSignal,
): Promise<JsonObject> {
  const input = Object.create(null) as { [field: string]: unknown }
  for (const word of words) Object.assign(input, await readInputWord(word, schema, io, signal))
  if (schema) {
    const checked = await checkWorkflowInput(schema, { ...input })
    if (!checked.ok) throw new ToolError('INVALID_INPUT', checked.error.message, { field: 'input' })
  }
  return { ...input }
}

async function readInputWord(
  word: string,
  schema: Workflow['input'],
  io: Io,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (word.trimStart().startsWith('{')) return parseJsonInput(word, 'the input')
  if (word === '-')
    return parseJsonInput((await readStdinText(io.stdin, { signal })) ?? '', 'stdin')
  if (word.startsWith('@'))
    return parseJsonInput(readInputFile(word.slice(1), io.cwd), word.slice(1))
  const [, key, text] = /^([^=\s]+)=(.*)$/s.exec(word) ?? []
  if (key === undefined || text === undefined)
    throw new ToolError(
      'USAGE',
      `'${word.slice(0, 60)}' is no input: give key=value, a JSON object, @file.json or -`,
      { field: 'input', suggestion: `For example '{"root": "src"}', or root=src` },
    )
  const properties = isObject(schema?.['properties']) ? schema['properties'] : {}
  const field = Object.hasOwn(properties, key) ? properties[key] : undefined
  const read = coerceText(isObject(field) ? field : {}, text)
  if (!read.ok) throw new ToolError('INVALID_INPUT', `${key} ${read.message}`, { field: key })
  return { [key]: read.value }
}

function readInputFile(name: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, name), 'utf8')
  } catch (error) {
    throw new ToolError(
      'INVALID_PATH',
      `the input file ${name} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'error'}`,
      { field: 'input', suggestion: 'Give a file that exists' },
    )
  }
}
